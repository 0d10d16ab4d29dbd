// Unpacks the browser that the npm package brings along: node unpack.mjs FOLDER

import { execFileSync } from "node:child_process";
import { createReadStream, createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";

const [, , folder] = process.argv;
const packed = join(folder, "node_modules", "@sparticuz", "chromium", "bin");
const browser = join(folder, "browser");
mkdirSync(browser);

const unpack = (name, to) =>
  pipeline(createReadStream(join(packed, name)), createBrotliDecompress(), createWriteStream(join(browser, to), { mode: 0o755 }));
await unpack("chromium.br", "chromium");
// Libraries and fonts for machines that have none.
for (const name of ["al2023", "fonts", "swiftshader"]) {
  await unpack(`${name}.tar.br`, `${name}.tar`);
  execFileSync("tar", ["-xf", join(browser, `${name}.tar`), "-C", browser]);
}
writeFileSync(join(browser, "fonts.conf"), `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${join(browser, "fonts")}</dir><cachedir>${join(browser, "cache")}</cachedir></fontconfig>\n`);
