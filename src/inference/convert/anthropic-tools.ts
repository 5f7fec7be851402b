import type { Fields } from '../../text/typed-reader.ts'

/** A tool that the client runs and the model knows without a schema. */
interface TypedTool {
  description: string
  properties: Fields
  required: readonly string[]
}

const text = { type: 'string' }
const whole = { type: 'integer' }
const point = { type: 'array', items: whole, minItems: 2, maxItems: 2 }
const oneOf = (...values: string[]) => ({ type: 'string', enum: values })

const EDITS = { path: text, file_text: text, old_str: text, new_str: text, insert_line: whole, insert_text: text }

/**
 * Typed tools of Messages that the client runs, by the beginning of their type, with the inputs that their pages document
 * (https://docs.claude.com/en/docs/agents-and-tools/tool-use/overview).
 */
const TYPED_TOOLS: Readonly<Record<string, TypedTool>> = {
  bash_: {
    description: 'Runs a command in a bash session that keeps its state between calls. `restart` starts a new session.',
    properties: { command: text, restart: { type: 'boolean' } },
    required: [],
  },
  text_editor_: {
    description:
      'Views and edits files. `view` shows a file (`view_range`: first and last line) or lists a directory; `create` writes ' +
      '`file_text`; `str_replace` replaces `old_str`, which must occur once, by `new_str`; `insert` puts `insert_text` ' +
      'after the line `insert_line`.',
    properties: { command: oneOf('view', 'create', 'str_replace', 'insert'), ...EDITS, view_range: point },
    required: ['command', 'path'],
  },
  memory_: {
    description:
      'Keeps files below /memories between conversations. `view` shows a file or lists a directory; `create`, `str_replace` ' +
      'and `insert` edit a file; `delete` and `rename` (`old_path`, `new_path`) work on both.',
    properties: {
      command: oneOf('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
      ...EDITS,
      old_path: text,
      new_path: text,
      view_range: point,
    },
    required: ['command'],
  },
  computer_: {
    description: 'Controls a computer by its screen, mouse and keyboard. Coordinates are pixels from the top left.',
    properties: {
      action: oneOf(
        ...['key', 'type', 'mouse_move', 'left_click', 'left_click_drag', 'right_click', 'middle_click'],
        ...['double_click', 'triple_click', 'left_mouse_down', 'left_mouse_up', 'screenshot', 'cursor_position'],
        ...['scroll', 'hold_key', 'wait'],
      ),
      coordinate: point,
      start_coordinate: point,
      text,
      scroll_direction: oneOf('up', 'down', 'left', 'right'),
      scroll_amount: whole,
      duration: { type: 'number' },
    },
    required: ['action'],
  },
}

/**
 * Description and schema of a typed tool that the client runs, for an API without it. Null for a tool that only Anthropic
 * runs.
 *
 * @example functionOfTyped({ type: 'bash_20250124', name: 'bash' })?.parameters
 */
export function functionOfTyped(tool: Fields): { description: string; parameters: Fields } | null {
  const type = String(tool.type)
  const kind = Object.keys(TYPED_TOOLS).find((name) => type.startsWith(name) && /^\d{8}$/.test(type.slice(name.length)))
  if (kind === undefined) return null
  const { description, properties, required } = TYPED_TOOLS[kind] as TypedTool
  const screen = [tool.display_width_px, tool.display_height_px].filter((size) => typeof size === 'number')
  const about = screen.length === 2 ? `${description} The screen has ${screen.join(' x ')} pixels.` : description
  return { description: about, parameters: { type: 'object', properties, required } }
}
