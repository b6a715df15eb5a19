import { describe, expect, it } from 'vitest';
import { isOurAddress, isOurMainFrame, outsideAddress } from '../../src/main/app/origin.ts';
import { verifies } from '../helpers/verifies.ts';

describe('origin', () => {
  it('RB-02: an address is ours only if its whole origin is, not the start of its text', () => {
    verifies('RB-02');
    for (const ours of ['app://sotto', 'app://sotto/', 'app://sotto/index.html?x#y', 'APP://sotto/'])
      expect(isOurAddress(ours), ours).toBe(true);
    const others = [
      'app://sotto.evil/',
      'app://sotto-evil/',
      'app://sotto@evil/',
      'app://me@sotto/',
      'app://me:pw@sotto/',
      'app://sotto:81/',
      'app://evil/app://sotto/',
      'app:sotto/',
      'apps://sotto/',
      'https://sotto/',
      'data:text/html,app://sotto/',
      'blob:app://sotto/1',
      'about:blank',
      'file:///app://sotto/',
      '',
      'not an address',
    ];
    for (const other of others) expect(isOurAddress(other), other).toBe(false);
  });

  it('RB-02: only the main frame of our own page may ask', () => {
    verifies('RB-02');
    const ours = { url: 'app://sotto/', origin: 'app://sotto', parent: null };
    expect(isOurMainFrame(ours)).toBe(true);
    expect(isOurMainFrame({ ...ours, parent: {} })).toBe(false);
    expect(isOurMainFrame({ ...ours, origin: 'null' })).toBe(false);
    expect(isOurMainFrame({ ...ours, url: 'data:text/html,x' })).toBe(false);
    // A frame that is gone when its message arrives.
    expect(isOurMainFrame(null)).toBe(false);
    expect(isOurMainFrame(undefined)).toBe(false);
  });

  it('only https and mailto may leave', () => {
    expect(outsideAddress('https://example.com/a')?.href).toBe('https://example.com/a');
    expect(outsideAddress('mailto:me@example.com')?.href).toBe('mailto:me@example.com');
    for (const refused of ['http://example.com/', 'file:///etc/passwd', 'smb://host/x', 'ms-msdt:x', 'vscode://x', 'javascript:1', 'x'])
      expect(outsideAddress(refused), refused).toBeNull();
  });
});
