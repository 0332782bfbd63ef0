/** Lays rows out in columns as wide as their widest cell; numbers stand right, words left. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const isNumeric = (column: number): boolean =>
    rows.every((row) => /^[\d., –-]*$/.test(row[column] ?? ""));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return isNumeric(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();

  return [line(head), widths.map((width) => "─".repeat(width)).join("  "), ...rows.map(line)];
}
