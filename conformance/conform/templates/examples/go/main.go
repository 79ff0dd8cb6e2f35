// An adapter of the component service of lease: it drives the lease service in lease.go.
package main

import (
	"log"

	"adapter/charter"
)

type adapter struct{ service *service }

func main() {
	about := charter.About{Name: "lease-go", Version: "1.0", Capabilities: []string{"load"}}
	make := func() charter.Adapter { return &adapter{} }
	if err := charter.ServeSessions(about, make, 64); err != nil {
		log.Fatal(err)
	}
}

func (a *adapter) Start(question charter.Question) error {
	a.service = &service{ttl: question.Consts.TTL, locks: map[string]*lock{}}
	for name := range question.Sorts.Lock {
		a.service.locks[string(name)] = &lock{}
	}
	if question.Given != nil {
		a.load(*question.Given)
	}
	return nil
}

func (a *adapter) load(given charter.Given) {
	for name, token := range given.Newest {
		a.service.locks[string(name)].newest = int64(token)
	}
	for name, held := range given.Lease {
		if held != nil {
			loaded := &lease{string(held.Holder), int64(held.Token), held.Left}
			a.service.locks[string(name)].lease = loaded
		}
	}
}

func (a *adapter) Observe() (charter.Observation, error) {
	shown := charter.Observation{
		Lease:  map[charter.Lock]*charter.Lease{},
		Newest: map[charter.Lock]charter.Token{},
	}
	for name, lock := range a.service.locks {
		shown.Newest[charter.Lock(name)] = charter.Token(lock.newest)
		shown.Lease[charter.Lock(name)] = nil
		if held := lock.lease; held != nil {
			shown.Lease[charter.Lock(name)] = &charter.Lease{
				Holder: charter.Client(held.holder),
				Token:  charter.Token(held.token),
				Left:   held.left,
			}
		}
	}
	return shown, nil
}

func (a *adapter) Acquire(args charter.AcquireArgs) (charter.Acquired, error) {
	token, granted := a.service.acquire(string(args.Client), string(args.Lock))
	if !granted {
		return charter.Busy{}, nil
	}
	return charter.Granted{Token: charter.Token(token)}, nil
}

func (a *adapter) Renew(args charter.RenewArgs) (bool, error) {
	return a.service.renew(string(args.Client), string(args.Lock), int64(args.Token)), nil
}

func (a *adapter) Release(args charter.ReleaseArgs) (bool, error) {
	return a.service.release(string(args.Client), string(args.Lock), int64(args.Token)), nil
}

func (a *adapter) Tick() (charter.Set[charter.Lock], error) {
	ended := charter.Set[charter.Lock]{}
	for _, name := range a.service.tick() {
		ended = append(ended, charter.Lock(name))
	}
	return ended, nil
}
