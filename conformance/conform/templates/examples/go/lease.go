package main

// Two planted bugs for the judge to find; set them to false to mend the service.
const (
	tokenIsReused     = true // a lock that was released is granted again with its old token
	releasedIsRenewed = true // a lease that was released can still be renewed
)

// service is a lease service in memory, the implementation that is judged.
type service struct {
	ttl   int
	locks map[string]*lock
}

type lock struct {
	newest   int64  // the newest token
	lease    *lease // nil if nobody holds the lock
	released *lease // the last lease that was released
}

type lease struct {
	holder string
	token  int64
	left   int // ticks
}

func (s *service) acquire(client, name string) (token int64, granted bool) {
	lock := s.locks[name]
	if lock.lease != nil {
		return 0, false
	}
	if lock.released == nil || !tokenIsReused {
		lock.newest++
	}
	lock.lease = &lease{client, lock.newest, s.ttl}
	return lock.newest, true
}

func (s *service) renew(client, name string, token int64) bool {
	lock := s.locks[name]
	if lock.lease == nil && releasedIsRenewed {
		lock.lease, lock.released = lock.released, nil
	}
	if !lock.isHeld(client, token) {
		return false
	}
	lock.lease.left = s.ttl
	return true
}

func (s *service) release(client, name string, token int64) bool {
	lock := s.locks[name]
	if !lock.isHeld(client, token) {
		return false
	}
	lock.released, lock.lease = lock.lease, nil
	return true
}

// tick lets time pass, and returns the locks whose leases end.
func (s *service) tick() (ended []string) {
	for name, lock := range s.locks {
		if lock.lease == nil {
			continue
		}
		lock.lease.left--
		if lock.lease.left == 0 {
			lock.lease = nil
			ended = append(ended, name)
		}
	}
	return ended
}

func (l *lock) isHeld(client string, token int64) bool {
	return l.lease != nil && l.lease.holder == client && l.lease.token == token
}
