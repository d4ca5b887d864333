import pathlib
import sys

# The providers of this directory, and the service as the end-to-end tests start it.
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "EndToEnd")]
