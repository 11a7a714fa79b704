//! The example programs as their users meet them: command line in, output and exit code out.

mod bad_input;
mod blocks;
mod chaos;
mod counting;
mod damage;
mod data_dir;
mod ends;
mod exact;
mod fraud;
mod graphs;
mod harness;
mod kills;
mod options;
mod own;
mod recovery;
mod usage;
mod workload;
