/* sdk.h: the whole plugin ABI. */
#ifndef GAINZ_SDK_SDK_H
#define GAINZ_SDK_SDK_H

#include "gainz/sdk/ops.h"
#include "gainz/sdk/plugin.h"

#endif
