// The compiler copies the files' bytes. As Swift array literals, they took minutes of the build.
#include "CAssets.h"

#if __has_warning("-Wc23-extensions")
#pragma clang diagnostic ignored "-Wc23-extensions"
#endif

static const unsigned char openapi_yaml[] = {
#embed "../../../openapi.yaml"
};
static const unsigned char sample_py[] = {
#embed "../../../deploy/compose/sample.py"
};
static const unsigned char console_html[] = {
#embed "../../Service/Console/console.html"
};
static const unsigned char console_css[] = {
#embed "base.css"
    ,
#embed "../../Service/Console/console.css"
};
static const unsigned char console_js[] = {
#embed "../../Service/Console/console.js"
};
static const unsigned char dev_css[] = {
#embed "base.css"
    ,
#embed "../../DevProvider/Pages/dev.css"
};
static const unsigned char submit_js[] = {
#embed "../../DevProvider/Pages/submit.js"
};

assay_asset assay_asset_openapi_yaml(void) { return (assay_asset){openapi_yaml, sizeof openapi_yaml}; }
assay_asset assay_asset_sample_py(void) { return (assay_asset){sample_py, sizeof sample_py}; }
assay_asset assay_asset_console_html(void) { return (assay_asset){console_html, sizeof console_html}; }
assay_asset assay_asset_console_css(void) { return (assay_asset){console_css, sizeof console_css}; }
assay_asset assay_asset_console_js(void) { return (assay_asset){console_js, sizeof console_js}; }
assay_asset assay_asset_dev_css(void) { return (assay_asset){dev_css, sizeof dev_css}; }
assay_asset assay_asset_submit_js(void) { return (assay_asset){submit_js, sizeof submit_js}; }
