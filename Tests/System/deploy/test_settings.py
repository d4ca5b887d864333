"""`deploy/assay.yaml`: the file to start from is good, as it is and with each setting that its comments offer."""

import pytest

from deploy.choices import check, choices
from harness.service import REPOSITORY

TEXT = (REPOSITORY / "deploy/assay.yaml").read_text()
CHOICES = choices(TEXT)


def test_it_is_good_as_it_is(tmp_path):
    checked = check(TEXT, tmp_path)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("name", CHOICES)
def test_it_is_good_with_what_a_comment_offers(tmp_path, name):
    checked = check(CHOICES[name], tmp_path)
    assert checked.returncode == 0, checked.stderr


def test_it_offers_sign_ins_for_one_instance_and_for_several():
    assert {"sign_ins", "sign_ins 2"} <= set(CHOICES)
