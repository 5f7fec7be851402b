/** Tells whether an error of the file system says that there is no such file or folder. */
export function isMissing(error: unknown): boolean {
  const { code } = Object(error) as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/**
 * Handles the error of a read: null when there is no such file or folder.
 *
 * @throws the error, when the file is there and cannot be read
 */
export function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null
  throw error
}
