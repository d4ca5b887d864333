#ifndef ASSAY_ASSETS_H
#define ASSAY_ASSETS_H

#include <stddef.h>

/// The bytes of a file that is part of the program. They live as long as the process.
typedef struct {
    const unsigned char *bytes;
    size_t count;
} assay_asset;

assay_asset assay_asset_openapi_yaml(void);
assay_asset assay_asset_sample_py(void);
assay_asset assay_asset_console_html(void);
assay_asset assay_asset_console_css(void);
assay_asset assay_asset_console_js(void);
assay_asset assay_asset_dev_css(void);
assay_asset assay_asset_submit_js(void);

#endif
