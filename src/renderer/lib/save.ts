/**
 * Offers a text as a file of the browser's own download. Only the served page can: the app denies downloads.
 *
 * @param name  the file name that is proposed.
 */
export function saveText(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
