"""The URLs of the Django project in `test_relying_parties.py`."""

from django.urls import include, path

urlpatterns = [path("oidc/", include("mozilla_django_oidc.urls"))]
