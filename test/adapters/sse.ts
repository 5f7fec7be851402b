/** One server-sent event. */
export interface SentEvent {
  name: string
  // biome-ignore lint/suspicious/noExplicitAny: what an event holds depends on its name
  data: any
}

/** The events of a reply as they arrive (WHATWG HTML, section 9.2, as far as names and data go). */
export async function* eventsOf(reply: Response): AsyncGenerator<SentEvent, void> {
  if (reply.body === null) return
  let rest = ''
  for await (const text of reply.body.pipeThrough(new TextDecoderStream())) {
    rest += text
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (name: string) =>
        block
          .split('\n')
          .filter((line) => line.startsWith(`${name}: `))
          .map((line) => line.slice(name.length + 2))
          .join('\n')
      if (field('data') !== '') yield { name: field('event'), data: JSON.parse(field('data')) }
    }
  }
}
