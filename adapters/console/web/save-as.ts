/** Time after which a saved file is let go, in milliseconds. */
const KEPT_MS = 60_000

/** Saves a file through the browser. */
export function saveAs(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS)
}
