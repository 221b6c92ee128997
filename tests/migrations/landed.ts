/** Faults of the landed migrations: file → its SHA-256 today, compared with file → its SHA-256 when it landed. */
export function landedFaults(files: ReadonlyMap<string, string>, landed: ReadonlyMap<string, string>): string[] {
  const faults: string[] = [];
  for (const [file, checksum] of landed) {
    const today = files.get(file);
    if (today === undefined) faults.push(`${file} is missing: a landed migration is never deleted or renamed.`);
    else if (today !== checksum) faults.push(`${file} was edited: a landed migration is never edited, write a new one.`);
  }
  for (const [file, checksum] of files) {
    if (!landed.has(file))
      faults.push(`${file} is new: add this line to tests/migrations/checksums.json:  "${file}": "${checksum}"`);
  }
  return faults;
}
