import { Check, Copy, TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useServices } from '../lib/services.tsx';
import { useTexts } from '../lib/texts.ts';
import { Button } from './Button.tsx';
import { IconButton } from './IconButton.tsx';

const shownMs = 2000;

/** Copies, and says in place whether it worked. */
export function CopyButton(props: { name: string; text: () => string; words?: boolean; quiet?: boolean; className?: string }) {
  const t = useTexts();
  const { clock } = useServices();
  const [result, setResult] = useState<'copied' | 'failed' | null>(null);
  useEffect(() => (result === null ? undefined : clock.setTimer(shownMs, () => setResult(null))), [result, clock]);
  const copy = () => {
    copyText(props.text()).then(
      () => setResult('copied'),
      () => setResult('failed'),
    );
  };
  const name = result === null ? props.name : result === 'copied' ? t('message.copied') : t('message.copyFailed');
  if (props.words)
    return (
      <Button look={props.quiet ? 'quiet' : 'plain'} className={props.className ?? ''} onClick={copy}>
        {name}
      </Button>
    );
  return (
    <IconButton
      icon={result === null ? Copy : result === 'copied' ? Check : TriangleAlert}
      name={name}
      className={props.className ?? ''}
      onClick={copy}
    />
  );
}

/** @throws when the system refuses the clipboard. */
export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
