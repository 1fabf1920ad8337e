"""`cep new`: a folder with a job that runs. What it holds is in `template/`, and is tested as it stands."""
