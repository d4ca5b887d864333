// glibc's own counts of its heap, which Swift's module of glibc leaves out.
#pragma once
#include <malloc.h>
