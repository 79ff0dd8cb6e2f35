//! A lease service in memory, the implementation that is judged.

use std::collections::BTreeMap;

// Two planted bugs for the judge to find; set them to false to mend the service.
const TOKEN_IS_REUSED: bool = true; // a lock that was released is granted again with its old token
const RELEASED_IS_RENEWED: bool = true; // a lease that was released can still be renewed

pub struct Service {
    pub ttl: i64,
    pub locks: BTreeMap<String, Lock>,
}

#[derive(Default)]
pub struct Lock {
    /// The newest token.
    pub newest: i64,
    pub lease: Option<Lease>,
    /// The last lease that was released.
    released: Option<Lease>,
}

pub struct Lease {
    pub holder: String,
    pub token: i64,
    /// The ticks that are left.
    pub left: i64,
}

impl Service {
    /// Returns the token of the new lease, or none if somebody holds the lock.
    pub fn acquire(&mut self, client: &str, name: &str) -> Option<i64> {
        let lock = self.locks.get_mut(name)?;
        if lock.lease.is_some() {
            return None;
        }
        if lock.released.is_none() || !TOKEN_IS_REUSED {
            lock.newest += 1;
        }
        lock.lease = Some(Lease {
            holder: client.to_string(),
            token: lock.newest,
            left: self.ttl,
        });
        Some(lock.newest)
    }

    pub fn renew(&mut self, client: &str, name: &str, token: i64) -> bool {
        let Some(lock) = self.locks.get_mut(name) else {
            return false;
        };
        if lock.lease.is_none() && RELEASED_IS_RENEWED {
            lock.lease = lock.released.take();
        }
        match lock.held(client, token) {
            Some(lease) => {
                lease.left = self.ttl;
                true
            }
            None => false,
        }
    }

    pub fn release(&mut self, client: &str, name: &str, token: i64) -> bool {
        let Some(lock) = self.locks.get_mut(name) else {
            return false;
        };
        if lock.held(client, token).is_none() {
            return false;
        }
        lock.released = lock.lease.take();
        true
    }

    /// Lets time pass, and returns the locks whose leases end.
    pub fn tick(&mut self) -> Vec<String> {
        let mut ended = Vec::new();
        for (name, lock) in &mut self.locks {
            let Some(lease) = &mut lock.lease else {
                continue;
            };
            lease.left -= 1;
            if lease.left == 0 {
                lock.lease = None;
                ended.push(name.clone());
            }
        }
        ended
    }
}

impl Lock {
    /// The lease, if the client has it, and with this token.
    fn held(&mut self, client: &str, token: i64) -> Option<&mut Lease> {
        self.lease
            .as_mut()
            .filter(|lease| lease.holder == client && lease.token == token)
    }
}
