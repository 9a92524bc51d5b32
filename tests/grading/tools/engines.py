"""For each line of input, a pattern with its flags and texts: whether Python finds it in each text, or `null` if it is not a pattern."""
import json
import re
import sys
import warnings

# A class that would mean something else in a later version.
warnings.simplefilter("ignore", FutureWarning)

for line in sys.stdin:
    given = json.loads(line)
    flags = sum(getattr(re, flag.upper()) for flag in given["flags"])
    try:
        compiled = re.compile(given["pattern"], flags)
        found = [compiled.search(text) is not None for text in given["texts"]]
    except (re.error, OverflowError):
        found = None
    print(json.dumps(found))
