"""A batch on the driver: prepared, run, run again where it failed, recorded; deploys between batches."""
