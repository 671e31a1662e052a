"""Settings of Sphinx for the documentation site; ``build.py`` gives the version."""

from __future__ import annotations

project = "dataset_rt"
author = "The dataset_rt authors"
language = "en"

extensions = ["myst_parser"]
root_doc = "index"
# Names of headings in links are those of a plain view of the repository.
myst_heading_anchors = 6
# A diagram or a command line is no Python.
highlight_language = "text"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 68
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_theme_options = {
    "light_css_variables": {"color-code-background": "#f3f4f6"},
    "dark_css_variables": {"color-code-background": "#1c1d20"},
}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
