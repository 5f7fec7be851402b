import fc from 'fast-check'

const comment = fc.constantFrom('', '', ' # said = "so" [a]', '\t# mine')
const gap = fc.constantFrom('', '', '\n', '\n\n', '# between\n', '\n# [mcp_servers.gone]\n')
const scalar = fc.constantFrom(
  '1',
  '"a # b"',
  "'C:\\dir'",
  'true',
  '1979-05-27T07:32:00Z',
  '[1, 2]',
  '[\n  "x", # in it\n  "y",\n]',
  '{ a = 1, b = "c" }',
  '"""\nlong\n[mcp_servers.gazeway]\n"""',
)
const key = fc.constantFrom('model', 'approval', '"a b"', 'x.y', 'tools')

const lines = fc
  .uniqueArray(fc.record({ key, scalar, comment, gap }), { selector: (line) => line.key.split('.')[0], maxLength: 4 })
  .map((all) => all.map(({ key, scalar, comment, gap }) => `${gap}${key} = ${scalar}${comment}\n`).join(''))

const header = fc.constantFrom(
  '[mcp_servers.memory]',
  '[mcp_servers."a.b"]',
  '[profiles.fast]',
  '[[hooks]]',
  '[mcp_servers.git.env]',
  '[ tui ]',
  '[gazeway]',
)

const tables = fc
  .uniqueArray(fc.record({ header, comment, lines, gap }), { selector: (table) => table.header, maxLength: 4 })
  .map((all) => all.map(({ header, comment, lines, gap }) => `${gap}${header}${comment}\n${lines}`).join(''))

/** The text of a file of TOML: with servers or without, with Windows' line ends or without, ended by one or not. */
export const tomlText = fc
  .tuple(lines, tables, gap, fc.boolean(), fc.boolean())
  .map(([first, rest, last, isWindows, isOpen]) => {
    const text = first + rest + last
    const ended = isOpen ? text.replace(/\n+$/, '') : text
    return isWindows ? ended.replaceAll('\n', '\r\n') : ended
  })
