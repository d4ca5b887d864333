private import CAssets

/// A file that is part of the program.
package enum Asset {
    case openAPI
    /// The web app that `assay dev --sample` prints.
    case sample
    case consolePage, consoleStyle, consoleScript
    case devStyle, devSubmitScript

    package var bytes: [UInt8] {
        let asset =
            switch self {
            case .openAPI: unsafe assay_asset_openapi_yaml()
            case .sample: unsafe assay_asset_sample_py()
            case .consolePage: unsafe assay_asset_console_html()
            case .consoleStyle: unsafe assay_asset_console_css()
            case .consoleScript: unsafe assay_asset_console_js()
            case .devStyle: unsafe assay_asset_dev_css()
            case .devSubmitScript: unsafe assay_asset_submit_js()
            }
        return unsafe [UInt8](UnsafeBufferPointer(start: asset.bytes, count: asset.count))
    }
}
