package main

import (
	"log"

	"adapter/charter"
)

type adapter struct{ given charter.Given }

func main() {
	about := charter.About{Name: "echo", Version: "1", Capabilities: []string{"load", "image"}}
	if err := charter.ServeSessions(about, func() charter.Adapter { return &adapter{} }, 3); err != nil {
		log.Fatal(err)
	}
}

func (a *adapter) Start(question charter.Question) error {
	if question.Given == nil {
		return charter.NotLoadable("nothing is given")
	}
	a.given = *question.Given
	return nil
}

func (a *adapter) Observe() (charter.Observation, error) { return charter.Observation(a.given), nil }

func (a *adapter) Image() (charter.Observation, error) { return a.Observe() }

func (a *adapter) Next(args charter.NextArgs) (charter.Epoch, error) {
	if args.Cookie == charter.NeverIssuedText {
		return 0, charter.Fault{Name: "NoCookie", Message: "never issued"}
	}
	if args.Cookie == "broken" {
		panic("it is broken")
	}
	if _, ok := args.Order.Order.(charter.ClearAll); ok {
		return 0, charter.Unsupported("clear_all")
	}
	return args.Epoch, nil
}
