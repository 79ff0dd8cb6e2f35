// Package charter is the adapter's side of the adapter protocol: it reads the judge's questions
// from stdin, calls the Adapter that you write, and answers on stdout with what was observed.
//
// sdk.go and values.go are the same for every charter; protocol.go has the types of yours, and is
// written anew by `conform generate --adapter go`.
package charter

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// About is what hello says about the adapter and the implementation that it found. Nil lists stand
// for everything that the charter has.
type About struct {
	Name         string
	Version      string
	Capabilities []string // "load" if Start can load a given state, "image" if there is an Imager
	Operations   []string // the operations that the adapter performs
	Observes     []string // the state variables that it shows
	Consts       []string // the constants that Start configures the implementation with
}

// Hello is what the judge says first.
type Hello struct {
	Release string            `json:"release"`
	Variant string            `json:"variant"`
	Errors  map[string]string `json:"errors"` // the table [errors] of adapter.toml
	Consts  map[string]string `json:"consts"`
}

// Greeter is implemented by adapters that want to know what the judge says first.
type Greeter interface {
	Hello(hello Hello) error
}

// Imager is implemented by adapters with a second reader of the same history, such as a replica.
// Image lets it catch up, and shows its state.
type Imager interface {
	Image() (Observation, error)
}

// Fault is the error of an operation in which the implementation threw something that the charter
// does not name. It ends the question.
type Fault struct {
	Name    string `json:"fault"`
	Message string `json:"message"`
}

func (f Fault) Error() string { return f.Name + ": " + f.Message }

// Unsupported is the error for what the adapter cannot do; it names the operation or capability.
type Unsupported string

func (u Unsupported) Error() string { return string(u) }

// NotLoadable is the error of Start if the given state did not come back.
type NotLoadable string

func (n NotLoadable) Error() string { return string(n) }

// dangling is the error of a reference that leads to no value in the observations.
type dangling string

func (d dangling) Error() string { return string(d) }

// driver is the adapter as the loop sees it: protocol.go implements it.
type driver interface {
	hello(hello Hello) error
	start(question []byte) error
	perform(operation string, args []byte) (any, error)
	observe() (any, error)
	image() (any, error)
}

const version = 1

type message struct {
	Version *int `json:"hello"`
	Hello
	Run       int        `json:"run"`
	Questions []question `json:"questions"`
	End       []string   `json:"end"`
	Begin     []question `json:"begin"`
	Steps     []question `json:"steps"`
	Bye       bool       `json:"bye"`
}

// question is also the beginning of a session, which has no operations, and a step, which is one.
type question struct {
	id, nonce  string
	call       call
	operations []call
	delta      delta
	text       []byte
}

func (q *question) UnmarshalJSON(data []byte) error {
	var fields struct {
		ID    string `json:"id"`
		Nonce string `json:"nonce"`
		call
		Operations []call `json:"operations"`
		Delta      delta  `json:"delta"`
	}
	err := json.Unmarshal(data, &fields)
	text := slices.Clone(data)
	*q = question{fields.ID, fields.Nonce, fields.call, fields.Operations, fields.Delta, text}
	return err
}

type call struct {
	Operation string          `json:"operation"`
	Args      json.RawMessage `json:"args"`
}

// delta says after which steps the image is shown: "each", or a list of steps.
type delta struct {
	each  bool
	steps []int
}

func (d *delta) UnmarshalJSON(data []byte) error {
	d.each = string(data) == `"each"`
	if d.each {
		return nil
	}
	return json.Unmarshal(data, &d.steps)
}

func (d delta) shows(step int) bool { return d.each || slices.Contains(d.steps, step) }

type welcome struct {
	Hello        int      `json:"hello"`
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	Component    string   `json:"component"`
	Capabilities []string `json:"capabilities"`
	Operations   []string `json:"operations"`
	Observes     []string `json:"observes"`
	Consts       []string `json:"consts,omitempty"`
	Sessions     int      `json:"sessions"`
}

type results struct {
	Run     int               `json:"run"`
	Values  []json.RawMessage `json:"values"`
	Results []result          `json:"results"`
}

type result struct {
	ID     string   `json:"id"`
	Nonce  string   `json:"nonce"`
	Status string   `json:"status"`
	Detail string   `json:"detail"`
	Steps  [][3]int `json:"steps"`
}

// server answers messages; its `about` is complete. Drivers are `idle`, or each has a session.
type server struct {
	about    About
	make     func() driver
	sessions int
	out      io.Writer
	greeting Hello
	idle     []driver
	open     map[string]*execution
}

// serve answers the judge until it says bye or `in` ends.
func serve(about About, make func() driver, sessions int, in io.Reader, out io.Writer) error {
	if about.Operations == nil {
		about.Operations = operations
	}
	if about.Observes == nil {
		about.Observes = variables
	}
	if about.Consts == nil {
		about.Consts = constants
	}
	s := &server{about: about, make: make, sessions: sessions, out: out}
	s.idle, s.open = []driver{make()}, map[string]*execution{}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var asked message
		if err := json.Unmarshal(line, &asked); err != nil {
			return err
		}
		if asked.Bye {
			return nil
		}
		if err := s.answer(asked); err != nil {
			return err
		}
	}
}

func (s *server) answer(asked message) error {
	if asked.Version == nil {
		return s.write(s.run(asked))
	}
	if *asked.Version != version {
		return s.write(map[string]int{"hello": version})
	}
	s.greeting = asked.Hello
	if err := s.idle[0].hello(asked.Hello); err != nil {
		return err
	}
	var consts []string
	for _, name := range s.about.Consts {
		if _, ok := asked.Consts[name]; ok {
			consts = append(consts, name)
		}
	}
	return s.write(welcome{
		Hello:        version,
		Name:         s.about.Name,
		Version:      s.about.Version,
		Component:    component,
		Capabilities: append([]string{}, s.about.Capabilities...),
		Operations:   s.about.Operations,
		Observes:     s.about.Observes,
		Consts:       consts,
		Sessions:     s.sessions,
	})
}

func (s *server) write(answer any) error {
	text, err := encode(answer)
	if err != nil {
		return err
	}
	_, err = s.out.Write(append(text, '\n'))
	return err
}

func (s *server) run(asked message) results {
	shared := &shared{values: []json.RawMessage{}, index: map[string]int{}}
	found := []result{}
	if asked.Questions != nil {
		for id := range s.open {
			s.end(id)
		}
	}
	for _, question := range asked.Questions {
		found = append(found, newExecution(s, question, shared).answerAll())
	}
	for _, id := range asked.End {
		s.end(id)
	}
	for _, question := range asked.Begin {
		found = append(found, s.begin(question, shared))
	}
	for _, step := range asked.Steps {
		found = append(found, s.step(step, shared))
	}
	return results{asked.Run, shared.values, found}
}

// begin opens a session and answers with its first state.
func (s *server) begin(asked question, shared *shared) result {
	s.end(asked.id)
	if len(s.open) >= s.sessions {
		return failed(asked, fmt.Sprintf("%d sessions are open", s.sessions))
	}
	if len(s.idle) == 0 {
		made := s.make()
		if err := made.hello(s.greeting); err != nil {
			return failed(asked, err.Error())
		}
		s.idle = append(s.idle, made)
	}
	begun := newExecution(s, asked, shared)
	s.idle = s.idle[1:]
	s.open[asked.id] = begun
	return s.endIfOver(begun, begun.answer(begun.start))
}

// step performs one operation of a session.
func (s *server) step(asked question, shared *shared) result {
	going, open := s.open[asked.id]
	if !open {
		return failed(asked, "no session "+asked.id+" is open")
	}
	going.shared = shared
	return s.endIfOver(going, going.answer(func() error { return going.perform(asked.call) }))
}

func (s *server) endIfOver(going *execution, found result) result {
	if going.over {
		s.end(going.question.id)
	}
	return found
}

// end ends a session if it is open.
func (s *server) end(id string) {
	if ended, open := s.open[id]; open {
		delete(s.open, id)
		s.idle = append(s.idle, ended.driver)
	}
}

func failed(asked question, detail string) result {
	return result{asked.id, asked.nonce, "error", detail, [][3]int{}}
}

// shared holds the values of a batch, each once.
type shared struct {
	values []json.RawMessage
	index  map[string]int
}

// add returns the value as a tree of JSON, and its index.
func (s *shared) add(value any) (any, int, error) {
	tree, text, err := canonical(value)
	if err != nil {
		return nil, 0, err
	}
	index, known := s.index[string(text)]
	if !known {
		index = len(s.values)
		s.index[string(text)] = index
		s.values = append(s.values, text)
	}
	return tree, index, nil
}

func status(err error) string {
	var dangling dangling
	var unsupported Unsupported
	var notLoadable NotLoadable
	switch {
	case errors.As(err, &dangling):
		return "unresolved"
	case errors.As(err, &unsupported):
		return "unsupported"
	case errors.As(err, &notLoadable):
		return "not_loadable"
	}
	return "error"
}

// history is what was shown, by step; step 0 has no reply.
type history struct {
	observations []any
	replies      []any
}

// execution is a question or a session, and what was shown so far. It is over after a fault and
// after an error.
type execution struct {
	about    About
	driver   driver
	question question
	shared   *shared
	steps    [][3]int // of this message
	history  history
	over     bool
}

// newExecution lends a question the first idle driver.
func newExecution(s *server, asked question, shared *shared) *execution {
	return &execution{about: s.about, driver: s.idle[0], question: asked, shared: shared}
}

// answerAll answers a question.
func (e *execution) answerAll() result {
	return e.answer(func() error {
		if err := e.start(); err != nil {
			return err
		}
		for _, call := range e.question.operations {
			if err := e.perform(call); err != nil || e.over {
				return err
			}
		}
		return nil
	})
}

// answer performs steps. Whatever goes wrong affects no other question.
func (e *execution) answer(steps func() error) (found result) {
	e.steps = [][3]int{}
	found = result{ID: e.question.id, Nonce: e.question.nonce, Status: "ok"}
	defer func() {
		if broken := recover(); broken != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", broken, debug.Stack())
			found.Status, found.Detail = "error", fmt.Sprint(broken)
		}
		e.over = e.over || found.Status != "ok"
		found.Steps = [][3]int{}
		if found.Status == "ok" || found.Status == "unresolved" {
			found.Steps = e.steps
		}
	}()
	if err := steps(); err != nil {
		found.Status, found.Detail = status(err), err.Error()
	}
	return found
}

func (e *execution) start() error {
	if err := e.driver.start(e.question.text); err != nil {
		return err
	}
	if err := e.observe(-1); err != nil {
		return err
	}
	e.history.replies = append(e.history.replies, nil)
	return nil
}

func (e *execution) perform(call call) error {
	args, err := resolved(call.Args, e.history)
	if err != nil {
		return err
	}
	value, err := e.driver.perform(call.Operation, args)
	var fault Fault
	if errors.As(err, &fault) {
		_, reply, err := e.shared.add(fault)
		e.steps = append(e.steps, [3]int{reply, -1, -1})
		e.over = true
		return err
	}
	if err != nil {
		return err
	}
	tree, reply, err := e.shared.add(value)
	if err != nil {
		return err
	}
	e.history.replies = append(e.history.replies, tree)
	return e.observe(reply)
}

// observe adds the step of a reply.
func (e *execution) observe(reply int) error {
	value, err := e.driver.observe()
	if err != nil {
		return err
	}
	observation, shown, err := e.show(value)
	if err != nil {
		return err
	}
	image, step := -1, len(e.history.observations)
	if slices.Contains(e.about.Capabilities, "image") && e.question.delta.shows(step) {
		if value, err = e.driver.image(); err != nil {
			return err
		}
		if _, image, err = e.show(value); err != nil {
			return err
		}
	}
	e.history.observations = append(e.history.observations, observation)
	e.steps = append(e.steps, [3]int{reply, shown, image})
	return nil
}

// show adds the variables that hello named to the shared values.
func (e *execution) show(value any) (any, int, error) {
	tree, _, err := canonical(value)
	if err != nil {
		return nil, 0, err
	}
	shown := map[string]any{}
	for name, part := range tree.(map[string]any) {
		if slices.Contains(e.about.Observes, name) {
			shown[name] = part
		}
	}
	return e.shared.add(shown)
}

// resolved returns arguments with each reference replaced by what stands there.
func resolved(args []byte, shown history) ([]byte, error) {
	tree, err := decode(args)
	if err != nil {
		return nil, err
	}
	if tree, err = resolve(tree, shown); err != nil {
		return nil, err
	}
	return encode(tree)
}

func resolve(value any, shown history) (any, error) {
	var err error
	switch value := value.(type) {
	case map[string]any:
		if path, ok := value["ref"].([]any); ok && isReference(value) {
			if value["in"] == "reply" {
				return lookUp(path, value["plus"], shown.replies)
			}
			return lookUp(path, value["plus"], shown.observations)
		}
		for name, part := range value {
			if value[name], err = resolve(part, shown); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, part := range value {
			if value[i], err = resolve(part, shown); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// isReference says whether an object has only the fields of a reference; a record of the charter may
// have a field `ref` beside others.
func isReference(object map[string]any) bool {
	for name := range object {
		if name != "ref" && name != "plus" && name != "in" {
			return false
		}
	}
	return true
}

// lookUp returns what stands at a path: the number of a step, then keys and positions.
func lookUp(path []any, plus any, steps []any) (any, error) {
	var value any = steps
	for _, part := range path {
		value = descend(value, part)
	}
	if value == nil {
		shown := strings.Trim(fmt.Sprint(path), "[]")
		return nil, dangling("nothing stands at " + shown)
	}
	if plus == nil {
		return value, nil
	}
	more, err := plus.(json.Number).Int64()
	if err != nil {
		return nil, err
	}
	number, ok := value.(json.Number)
	if !ok {
		return nil, dangling(fmt.Sprintf("%v is no number", value))
	}
	sum, err := number.Int64()
	return sum + more, err
}

func descend(value, part any) any {
	switch part := part.(type) {
	case string:
		object, _ := value.(map[string]any)
		return object[part]
	case json.Number:
		array, _ := value.([]any)
		index, err := part.Int64()
		if err == nil && 0 <= index && index < int64(len(array)) {
			return array[index]
		}
	}
	return nil
}

// perform calls the method of an operation with its arguments.
func perform[A, R any](method func(A) (R, error), data []byte) (any, error) {
	var args A
	if err := json.Unmarshal(data, &args); err != nil {
		return nil, err
	}
	return method(args)
}
