"""The survey of Redbook of 1974 as statsmodels ships it, with the number of affairs as yes or no."""

import json

import statsmodels
from statsmodels.datasets import fair

KNOWN = ["age", "yrs_married", "children", "religious", "educ", "occupation", "occupation_husb"]
SURVEY = fair.load_pandas().data
COLUMNS = {name: SURVEY[name].tolist() for name in KNOWN}
COLUMNS["affair"] = ["yes" if times > 0 else "no" for times in SURVEY["affairs"]]
print(json.dumps({"version": statsmodels.__version__, "quasi": KNOWN, "secret": "affair", "columns": COLUMNS}))
