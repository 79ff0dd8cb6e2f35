mod charter;

use charter::*;

struct Driver(Given);

impl Adapter for Driver {
    fn start(&mut self, question: Question) -> Result<(), Error> {
        let missing = Error::NotLoadable("nothing is given".to_string());
        self.0 = question.given.ok_or(missing)?;
        Ok(())
    }

    fn observe(&mut self) -> Result<Observation, Error> {
        let Given {
            members,
            sessions,
            orders,
            open,
            colours,
            slots,
            groups,
        } = self.0.clone();
        Ok(Observation {
            members,
            sessions,
            orders,
            open,
            colours,
            slots,
            groups,
        })
    }

    fn image(&mut self) -> Result<Observation, Error> {
        self.observe()
    }

    fn next(&mut self, args: NextArgs) -> Result<Epoch, Error> {
        if args.cookie.0 == NEVER_ISSUED_TEXT {
            return Err(Error::Fault {
                name: "NoCookie".to_string(),
                message: "never issued".to_string(),
            });
        }
        assert!(args.cookie.0 != "broken", "it is broken");
        fault_if_panics(|| assert!(args.cookie.0 != "throws", "it throws"))?;
        match args.order {
            Order::ClearAll => Err(Error::Unsupported("clear_all".to_string())),
            Order::PutItems { .. } | Order::Refer { .. } => Ok(args.epoch),
        }
    }
}

fn main() -> Result<(), Error> {
    let mut about = About::new("echo", "1");
    about.capabilities = vec!["load".to_string(), "image".to_string()];
    serve_sessions(about, || Driver(Given::default()), 3)
}
