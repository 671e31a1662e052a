"""Code of a user that type checkers refuse: each marked line, and no other. Checked, never run."""

import dataset_rt as drt

runtime = drt.DatasetRuntime(2)  # wrong
drt.ReaderConfig(seed="seven")  # wrong
drt.ReaderConfig(seed=1, on_corrupt="ignore")  # wrong
runtime.cached_dataset(["base/a"])  # wrong
dataset = runtime.cached_dataset(["base/a"], reader_config=drt.ReaderConfig(seed=1))
dataset.get_item("base/a", 0)  # wrong
dataset.batches("16")  # wrong
dataset.update_metadata({"weight": [1.0]})  # wrong
for sample in dataset:
    sample.data.encode()  # wrong
    print(sample.weight)  # wrong
