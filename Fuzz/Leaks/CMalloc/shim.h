// glibc's heap statistics, which Swift's Glibc module does not export.
#pragma once
#include <malloc.h>
