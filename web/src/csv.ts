// The numbers of the page as a CSV file, as `--output` writes them.

import { Run } from "./run";

function quoted(name: string): string {
  return /[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

/** In pieces, because one string of a long run may be longer than browsers allow. */
export function csvOf(run: Run): Blob {
  const parts: string[] = [run.columns.map(quoted).join(",") + "\n"];
  const columns = run.values.slice(0, run.columns.length);
  for (let from = 0; from < run.rows; from += 2000) {
    const lines: string[] = [];
    for (let row = from; row < Math.min(run.rows, from + 2000); ++row)
      lines.push(columns.map((column) => (Number.isFinite(column[row]) ? String(column[row]) : "nan")).join(","));
    parts.push(lines.join("\n") + "\n");
  }
  return new Blob(parts, { type: "text/csv" });
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
