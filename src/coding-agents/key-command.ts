/** Command that prints the key in a file: the program, and its words. */
export function keyCommand(keyFile: string, platform: NodeJS.Platform): { command: string; args: string[] } {
  return platform === 'win32'
    ? { command: 'cmd', args: ['/d', '/c', 'type', keyFile] }
    : { command: 'cat', args: [keyFile] }
}

/** The same as a line for a shell. */
export const keyLine = (keyFile: string, platform: NodeJS.Platform): string =>
  platform === 'win32' ? `type "${keyFile}"` : `cat '${keyFile.replaceAll("'", `'\\''`)}'`
