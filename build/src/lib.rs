//! Build-script helper and code generator of evalsuite
