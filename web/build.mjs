// Bundles the page's sources and writes them as a C++ file: node build.mjs MODULES OUTPUT.cpp
// MODULES is the folder that holds node_modules; it is not this one, so that building leaves the sources alone.
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [modules, output] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const { build } = createRequire(join(modules, "package.json"))("esbuild");

// Both licenses ask for their notice in every copy.
const notices = {
  "main.ts": "/* contains uPlot, Copyright (c) Leon Sorokin, MIT License */",
  "view3d.ts": "/* contains three.js, Copyright (c) the three.js authors, MIT License */",
  "page.css": "",
};

async function bundle(name) {
  const result = await build({
    entryPoints: [join(here, "src", name)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome100", "firefox100", "safari15"],
    nodePaths: [join(modules, "node_modules")],
    legalComments: "none",
    banner: name.endsWith(".css") ? {} : { js: notices[name] },
    charset: "utf8",
    logLevel: "warning",
  });
  // "</script" inside a string would end the page's script element.
  return result.outputFiles[0].text.replaceAll("</script", "<\\/script");
}

// Raw string literals beside each other become one string; short ones, because compilers limit the length of each.
function literal(text) {
  const bytes = Buffer.from(text, "utf8");
  const parts = [];
  for (let at = 0; at < bytes.length; ) {
    let end = Math.min(at + 12000, bytes.length);
    while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) --end;
    parts.push(`R"__page(${bytes.subarray(at, end).toString("utf8")})__page"`);
    at = end;
  }
  return parts.join("\n    ");
}

const names = { page_style: "page.css", page_script: "main.ts", page_script_3d: "view3d.ts" };
let source = "// Written by web/build.mjs.\n#include \"daedalus/report/page_assets.hpp\"\n\nnamespace daedalus::report {\n";
for (const [name, file] of Object.entries(names)) {
  const text = await bundle(file);
  if (text.includes(")__page")) throw new Error(`${file} contains the end mark of the C++ string`);
  source += `\nstd::string_view ${name}() {\n  return std::string_view(\n    ${literal(text)}, ${Buffer.byteLength(text)});\n}\n`;
}
source += "\n}  // namespace daedalus::report\n";
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, source);
