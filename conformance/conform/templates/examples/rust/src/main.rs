//! An adapter of the component service of lease: it drives the lease service in lease.rs.

mod charter;
mod lease;

use charter::*;

struct Driver {
    service: lease::Service,
}

impl Adapter for Driver {
    fn start(&mut self, question: Question) -> Result<(), Error> {
        self.service = lease::Service {
            ttl: question.consts.ttl,
            locks: question
                .sorts
                .lock
                .into_keys()
                .map(|name| (name.0, lease::Lock::default()))
                .collect(),
        };
        if let Some(given) = question.given {
            self.load(given);
        }
        Ok(())
    }

    fn observe(&mut self) -> Result<Observation, Error> {
        let mut shown = Observation::default();
        for (name, lock) in &self.service.locks {
            let lease = lock.lease.as_ref().map(|lease| Lease {
                holder: Client(lease.holder.clone()),
                token: Token(lease.token),
                left: lease.left,
            });
            shown.lease.insert(Lock(name.clone()), lease);
            shown.newest.insert(Lock(name.clone()), Token(lock.newest));
        }
        Ok(shown)
    }

    fn acquire(&mut self, args: AcquireArgs) -> Result<Acquired, Error> {
        Ok(match self.service.acquire(&args.client.0, &args.lock.0) {
            Some(token) => Acquired::Granted {
                token: Token(token),
            },
            None => Acquired::Busy,
        })
    }

    fn renew(&mut self, args: RenewArgs) -> Result<bool, Error> {
        let RenewArgs {
            client,
            lock,
            token,
        } = args;
        Ok(self.service.renew(&client.0, &lock.0, token.0))
    }

    fn release(&mut self, args: ReleaseArgs) -> Result<bool, Error> {
        let ReleaseArgs {
            client,
            lock,
            token,
        } = args;
        Ok(self.service.release(&client.0, &lock.0, token.0))
    }

    fn tick(&mut self) -> Result<Set<Lock>, Error> {
        Ok(self.service.tick().into_iter().map(Lock).collect())
    }
}

impl Driver {
    fn load(&mut self, given: Given) {
        for (name, lock) in &mut self.service.locks {
            let name = Lock(name.clone());
            lock.newest = given.newest[&name].0;
            lock.lease = given.lease[&name].as_ref().map(|held| lease::Lease {
                holder: held.holder.0.clone(),
                token: held.token.0,
                left: held.left,
            });
        }
    }
}

fn main() -> Result<(), Error> {
    let mut about = About::new("lease-rust", "1.0");
    about.capabilities.push("load".to_string());
    let make = || Driver {
        service: lease::Service {
            ttl: 0,
            locks: Default::default(),
        },
    };
    serve_sessions(about, make, 64)
}
