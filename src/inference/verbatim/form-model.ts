/** A form as bytes, and the type that says where its fields begin. */
export interface WrittenForm {
  written: Buffer
  type: string
}

/** Replaces the model in a form. Other fields and files stay unchanged. */
export async function formWithModel({ written, type }: WrittenForm, model: string): Promise<WrittenForm> {
  const form = await new Response(new Uint8Array(written), { headers: { 'content-type': type } }).formData()
  form.set('model', model)
  const changed = new Response(form)
  return { written: Buffer.from(await changed.arrayBuffer()), type: changed.headers.get('content-type') as string }
}
