//! The printed blocks, byte for byte, with lines that are sent one by one: each only after the
//! blocks of the one before are there.

use crate::harness::{
    Block, Counts, PARALLEL_VEHICLE_COUNT, Program, VEHICLE_COUNT, accept, naive_counts, send,
    two_ports,
};

#[test]
fn vehicle_count_prints_each_vehicle_and_all_counts() {
    let (address, [listener, _]) = two_ports();
    let mut program = Program::start(VEHICLE_COUNT, &["--connect", &address]);
    let peer = accept(listener);

    send(&peer, "car\n");
    program.prints("\nSensorReader --> car\nVehicleCounter --> \n  car: 1\n");
    send(&peer, "truck\r\n");
    program.prints("\nSensorReader --> truck\nVehicleCounter --> \n  car: 1\n  truck: 1\n");
    send(&peer, "car\n");
    program.prints("\nSensorReader --> car\nVehicleCounter --> \n  car: 2\n  truck: 1\n");
    send(&peer, "van\n");
    program.prints("\nSensorReader --> van\nVehicleCounter --> \n  car: 2\n  truck: 1\n  van: 1\n");
    send(&peer, "car");
    drop(peer);
    program.prints("\nSensorReader --> car\nVehicleCounter --> \n  car: 3\n  truck: 1\n  van: 1\n");

    program.end().has_code(0).is_quiet();
}

#[test]
fn a_type_is_any_line_and_the_order_is_that_of_utf_16() {
    let (address, [listener, _]) = two_ports();
    let mut program = Program::start(VEHICLE_COUNT, &["--connect", &address]);
    let peer = accept(listener);

    send(&peer, "\n");
    program.prints("\nSensorReader --> \nVehicleCounter --> \n  : 1\n");
    send(&peer, "Car\n");
    program.prints("\nSensorReader --> Car\nVehicleCounter --> \n  : 1\n  Car: 1\n");
    send(&peer, " car\n");
    program.prints("\nSensorReader -->  car\nVehicleCounter --> \n  : 1\n   car: 1\n  Car: 1\n");
    send(&peer, "\u{ffff}\n");
    program.prints(
        "\nSensorReader --> \u{ffff}\nVehicleCounter --> \n  : 1\n   car: 1\n  Car: 1\n  \u{ffff}: 1\n",
    );
    send(&peer, "🚗\n");
    program.prints(
        "\nSensorReader --> 🚗\nVehicleCounter --> \n  : 1\n   car: 1\n  Car: 1\n  🚗: 1\n  \u{ffff}: 1\n",
    );
    drop(peer);
    program.end().has_code(0);
}

/// Runs the six lines of the book's chapter 3; gives a counter's block for each.
fn six_lines(options: &[&str]) -> Vec<(usize, Counts)> {
    let (address, [first, second]) = two_ports();
    let connect = ["--connect", &address];
    let mut program = Program::start(PARALLEL_VEHICLE_COUNT, &[&connect, options].concat());
    let peers = [accept(first), accept(second)];
    let lines = [(0, "car"), (1, "truck"), (0, "car"), (1, "van"), (0, "bus"), (1, "car")];
    for (peer, kind) in lines {
        send(&peers[peer], &format!("{kind}\n"));
        let head = format!("\nSensorReader :: instance {peer} --> {kind}\n");
        program.prints_counts_after(&head);
    }
    drop(peers);
    let end = program.end();
    end.has_code(0).has_end_line(&["status=finished", "events_in=6", "events_out=6"]);
    let sensors = end.blocks().into_iter().filter(|block| matches!(block, Block::Sensor { .. }));
    assert_eq!(sensors.count(), 6);
    end.counted()
}

#[test]
fn two_readers_and_one_counter() {
    let (address, [first, second]) = two_ports();
    let options = ["--connect", &address, "--sources", "2", "--counters", "1"];
    let mut program = Program::start(PARALLEL_VEHICLE_COUNT, &options);
    let peers = [accept(first), accept(second)];

    let mut check = |peer: usize, kind: &str, counts: &str| {
        send(&peers[peer], &format!("{kind}\n"));
        program.prints(&format!(
            "\nSensorReader :: instance {peer} --> {kind}\nVehicleCounter :: instance 0 --> \n{counts}"
        ));
    };
    check(0, "car", "  car: 1\n");
    check(1, "truck", "  car: 1\n  truck: 1\n");
    check(0, "car", "  car: 2\n  truck: 1\n");
    check(1, "van", "  car: 2\n  truck: 1\n  van: 1\n");
    check(0, "bus", "  bus: 1\n  car: 2\n  truck: 1\n  van: 1\n");
    check(1, "car", "  bus: 1\n  car: 3\n  truck: 1\n  van: 1\n");

    drop(peers);
    program.end().has_code(0).is_quiet();
}

#[test]
fn two_readers_and_two_counters_that_take_turns() {
    let counted = six_lines(&["--grouping", "shuffle"]);
    assert_eq!(counted.len(), 6);
    let instances = [0, 1].map(|i| counted.iter().filter(|(instance, _)| *instance == i).count());
    assert_eq!(instances, [3, 3]);
    let mut total = Counts::new();
    for instance in 0..2 {
        let (_, counts) = counted.iter().rfind(|(i, _)| *i == instance).unwrap();
        for (kind, count) in counts {
            *total.entry(kind.clone()).or_default() += count;
        }
    }
    assert_eq!(total, naive_counts(["car", "truck", "car", "van", "bus", "car"]));
}

#[test]
fn two_readers_and_two_counters_by_type() {
    let counted = six_lines(&["--grouping", "fields"]);
    let kinds = ["car", "truck", "car", "van", "bus", "car"];
    assert_eq!(counted.len(), kinds.len());
    let mut home = Counts::new();
    for (number, ((instance, counts), kind)) in counted.iter().zip(kinds).enumerate() {
        // All vehicles of a type are counted in one place, and nothing else changes there.
        let before = kinds[..=number].iter().filter(|k| **k == kind).count();
        assert_eq!(counts[kind], before as u64);
        let instance = *instance as u64;
        assert_eq!(*home.entry(kind.to_owned()).or_insert(instance), instance);
        for (other, count) in counts {
            assert_eq!(home[other], instance);
            let so_far = kinds[..=number].iter().filter(|k| *k == other).count();
            assert_eq!(*count, so_far as u64);
        }
    }
}
