"""`deploy/assay.yaml`, the file to start from, is valid as it is and with each setting in its comments."""

import pytest

from deploy.choices import check, choices
from harness.service import REPOSITORY

TEXT = (REPOSITORY / "deploy/assay.yaml").read_text()
CHOICES = choices(TEXT)


def test_the_file_is_valid(tmp_path):
    checked = check(TEXT, tmp_path)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("name", CHOICES)
def test_each_commented_setting_is_valid(tmp_path, name):
    checked = check(CHOICES[name], tmp_path)
    assert checked.returncode == 0, checked.stderr


def test_the_comments_have_sign_ins_for_one_and_for_several_instances():
    assert {"sign_ins", "sign_ins 2"} <= set(CHOICES)
