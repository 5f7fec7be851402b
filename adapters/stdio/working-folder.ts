/**
 * The working folder as the person's project. Null in the folder of a plugin, where its clients start servers (Agent
 * Plugins 1.0.0, section 7.2.1).
 */
export function workingFolder(): string | null {
  const folder = process.cwd()
  return folder === process.env.PLUGIN_ROOT ? null : folder
}
