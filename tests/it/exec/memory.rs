//! Room that is reserved in advance.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clinker::exec::memory::{Arbitrator, Charge};

fn arbitrator(limit: u64) -> Arbitrator {
    Arbitrator::new(limit, ["groups", "others"].map(str::to_owned))
}

#[test]
fn charges_take_what_their_consumer_has_in_advance() {
    let arbitrator = arbitrator(100);
    let (mut one, mut two) = (Charge::new(&arbitrator, 0), Charge::new(&arbitrator, 0));
    let mut other = Charge::new(&arbitrator, 1);
    one.take(20).expect("there is room");
    let advance = one.advance(70).expect("there is room");
    assert!(other.take(20).is_err(), "only 10 bytes are left");
    other.take(10).expect("they are free");
    two.take(40).expect("it is reserved");
    one.give_back(20);
    assert!(other.take(1).is_err(), "what is given back is for the consumer still");
    two.take(50).expect("it is what was given back, and the rest");
    assert!(two.take(1).is_err(), "nothing is left");
    two.give_back(60);
    drop(advance);
    assert_eq!((one.held(), two.held()), (0, 30));
    other.take(60).expect("what wasn't taken is free");
    assert!(other.take(1).is_err());
    drop((one, two, other));
    assert_eq!(arbitrator.reserve(0, 100), Ok(()), "all of it was given back");
}

#[test]
fn an_advance_is_all_or_nothing() {
    let arbitrator = arbitrator(100);
    let (mut charge, mut other) = (Charge::new(&arbitrator, 0), Charge::new(&arbitrator, 1));
    other.take(50).expect("there is room");
    assert!(charge.advance(51).is_none());
    let advance = charge.advance(50).expect("there is room");
    assert!(charge.advance(0).is_none(), "one at a time");
    assert!(charge.take(51).is_err(), "it is more than there is");
    charge.take(50).expect("a reservation that failed took nothing");
    drop(advance);
    assert!(charge.advance(1).is_none(), "all of the limit is held");
}

/// A peak is what was held, and not what might have been.
#[test]
fn what_is_only_reserved_in_advance_is_no_peak() {
    let arbitrator = arbitrator(100);
    let mut charge = Charge::new(&arbitrator, 0);
    let advance = charge.advance(90).expect("there is room");
    charge.take(30).expect("it is reserved");
    charge.give_back(10);
    drop(advance);
    charge.take(5).expect("there is room");
    assert_eq!((arbitrator.peak(), arbitrator.peak_of(0)), (30, 30));
}

/// Others that take all they can get, again and again, can't get what is reserved.
#[test]
fn others_can_not_take_what_is_reserved() {
    let (arbitrator, over) = (arbitrator(1000), AtomicBool::new(false));
    let greedy = || {
        let mut charge = Charge::new(&arbitrator, 1);
        while !over.load(Ordering::Relaxed) {
            while charge.take(7).is_ok() {}
            charge.give_back(charge.held());
            thread::yield_now();
        }
    };
    let steps = || {
        let (mut keys, mut states) = (Charge::new(&arbitrator, 0), Charge::new(&arbitrator, 0));
        let mut granted = 0;
        while granted < 300 {
            let Some(advance) = keys.advance(300) else {
                thread::yield_now();
                continue;
            };
            granted += 1;
            keys.take(200).expect("it is reserved");
            keys.give_back(150);
            states.take(250).expect("it is reserved");
            drop(advance);
            keys.give_back(50);
            states.give_back(250);
        }
    };
    thread::scope(|scope| {
        scope.spawn(greedy);
        scope.spawn(greedy);
        let done = scope.spawn(steps).join();
        over.store(true, Ordering::Relaxed);
        done.expect("no step fails");
    });
    assert_eq!(arbitrator.reserve(0, 1000), Ok(()), "all of it was given back");
}
