//! labgrid's coordinator and exporter.

mod labgrid;
