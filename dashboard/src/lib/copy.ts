/** Copies text. Over plain HTTP browsers have no clipboard; a field serves there. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByField(text);
  }
}

/** All but the topmost dialog is inert: a field elsewhere would not get the focus. */
function copyByField(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr";
  ([...document.querySelectorAll("dialog:modal")].at(-1) ?? document.body).append(field);
  field.select();
  const isCopied = document.activeElement === field && document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
