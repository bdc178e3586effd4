"""The names of the files in a release folder."""

PACKAGE = "datapackage.json"
PLAN = "plan.json"
CERTIFICATE = "certificate.json"
README = "README.txt"
PREDICTED = "predicted.csv"
SIGNATURE = f"{PACKAGE}.sig"
REPORT = "report.html"
FORMATS = {"parquet": ("data.parquet",), "csv": ("data.csv",), "both": ("data.parquet", "data.csv")}
"""The files with the rows."""
MODELLED_KEY = "pkanon:modelled"
"""What a Parquet file of modelled rows carries."""
