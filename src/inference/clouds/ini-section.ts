/**
 * Fields of a section of an INI file, as AWS has them. Empty without such a section.
 *
 * @example iniSection('[work]\nregion = us-east-1', 'work').region // 'us-east-1'
 */
export function iniSection(text: string, name: string): Record<string, string> {
  const [, ...sections] = text.split(/^[ \t]*\[/m)
  const found = sections.find((section) => section.slice(0, section.indexOf(']')).trim() === name) ?? ''
  const lines = found.split('\n').slice(1)
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, field, value] = /^\s*([\w-]+)\s*=\s*(\S.*?)\s*$/.exec(line) ?? []
      return field !== undefined && value !== undefined ? [[field, value]] : []
    }),
  )
}
