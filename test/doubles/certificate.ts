import { execFileSync } from 'node:child_process'

/** Reason why no certificate can be created; null if one can. */
export function noCertificates(): string | null {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return null
  } catch {
    return 'openssl is not installed'
  }
}

/** Creates a key and a self-signed certificate for 127.0.0.1 and provider.test, as PEM files. */
export function makeCertificate(key: string, certificate: string): void {
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:provider.test']
  const made = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', ...made, ...subject], { stdio: 'ignore' })
}
