//! An adapter of the component library of sample.kinds: it drives one implementation.

mod charter;

use charter::*;

/// It holds what the operations need: a client of the implementation, or the implementation.
struct Driver;

impl Adapter for Driver {
    /// Clears everything of earlier questions, and configures the implementation with the constants
    /// of this one. A given state is loaded if the adapter claims `load`.
    fn start(&mut self, _question: Question) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the state as it is.
    fn observe(&mut self) -> Result<Observation, Error> {
        Ok(Observation::default())
    }

    /// A node comes, with a cookie of its own.
    ///
    /// S1 joining
    fn join_library(&mut self, _args: JoinLibraryArgs) -> Result<Reply, Error> {
        Err(Error::Unsupported("join_library".to_string()))
    }

    fn handle(&mut self, _args: HandleArgs) -> Result<Option<Member>, Error> {
        Err(Error::Unsupported("handle".to_string()))
    }

    fn failover(&mut self) -> Result<bool, Error> {
        Err(Error::Unsupported("failover".to_string()))
    }

    fn r#type(&mut self, _args: TypeArgs) -> Result<Set<SessionId>, Error> {
        Err(Error::Unsupported("type".to_string()))
    }
}

fn main() -> Result<(), Error> {
    serve(About::new("library", "0.1"), Driver)
}
