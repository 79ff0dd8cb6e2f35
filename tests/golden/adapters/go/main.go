// An adapter of the component library of sample.kinds: it drives one implementation.
package main

import (
	"log"

	"adapter/charter"
)

// adapter holds what the operations need: a client of the implementation, or the implementation.
type adapter struct{}

func main() {
	about := charter.About{Name: "library", Version: "0.1"}
	if err := charter.Serve(about, &adapter{}); err != nil {
		log.Fatal(err)
	}
}

// Start clears everything of earlier questions, and configures the implementation with the
// constants of this one. A given state is loaded if the adapter claims `load`.
func (a *adapter) Start(question charter.Question) error {
	return nil
}

// Observe returns the state as it is.
func (a *adapter) Observe() (charter.Observation, error) {
	return charter.Observation{}, nil
}

// A node comes, with a cookie of its own.
//
// S1 joining
func (a *adapter) JoinLibrary(args charter.JoinLibraryArgs) (reply charter.Reply, err error) {
	return reply, charter.Unsupported("join_library")
}

func (a *adapter) Handle(args charter.HandleArgs) (reply *charter.Member, err error) {
	return reply, charter.Unsupported("handle")
}

func (a *adapter) Failover() (reply bool, err error) {
	return reply, charter.Unsupported("failover")
}

func (a *adapter) Type(args charter.TypeArgs) (reply charter.Set[charter.SessionId], err error) {
	return reply, charter.Unsupported("type")
}
