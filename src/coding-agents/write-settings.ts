import type { TextFile } from '../assistants/format.ts'
import { isSame } from '../assistants/json-format.ts'
import type { Setting, WrittenSetting } from './setting.ts'
import type { SettingFormat } from './setting-format.ts'

/**
 * Writes settings into a text.
 *
 * @returns the new text, and each setting with what undoes it
 * @throws GazewayError `config_invalid` for an invalid text, `conflict` for a name that occurs twice
 */
export function writeSettings(
  format: SettingFormat,
  { file, text }: TextFile,
  settings: readonly Setting[],
): { text: string; written: WrittenSetting[] } {
  const written: WrittenSetting[] = []
  let current = text
  for (const one of settings) {
    const now = { file, text: current }
    const previous = format.read(now, one)
    written.push({ ...one, ...(previous !== undefined && { previous }), depth: format.depthOf(now, one) })
    if (!isSame(previous, one.value)) current = format.put(now, one)
  }
  return { text: current, written }
}

/**
 * Removes settings that {@link writeSettings} has written from a text that was edited since. A value that is another by
 * now stays.
 *
 * @returns the new text, and the paths of the settings that stay
 * @throws as {@link writeSettings}
 */
export function undoSettings(
  format: SettingFormat,
  { file, text }: TextFile,
  written: readonly WrittenSetting[],
): { text: string; staying: string[] } {
  const staying: string[] = []
  let current = text
  for (const one of written.toReversed()) {
    const now = { file, text: current }
    const value = format.read(now, one)
    if (value === undefined) continue
    if (!isSame(value, one.value)) staying.unshift(one.path.join('.'))
    else if (!('previous' in one)) current = format.take(now, one, one.depth)
    else if (!isSame(one.previous, one.value)) current = format.put(now, { ...one, value: one.previous })
  }
  return { text: current, staying }
}
