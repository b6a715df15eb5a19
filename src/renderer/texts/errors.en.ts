/**
 * The three parts of every error that a person can meet (UX-06): what happened, what it means for your work, what to do now. Keys are
 * the text keys of `src/shared/errors`. `{{…}}` are fields of the error's data; sizes come as words ("5.9 GB").
 */
export const errorTexts = {
  invalidInput: {
    what: 'Sotto could not use this input.',
    means: 'Nothing was changed and your text is kept.',
    do: 'Check the field {{field}}: {{reason}}.',
  },
  unknownProcedure: {
    what: 'This page asks for something that this Sotto does not know.',
    means: 'Your chats are safe. Page and program are of different versions.',
    do: 'Load the page again.',
  },
  forbiddenSender: {
    what: 'Sotto refused this window.',
    means: 'Nothing was read or changed.',
    do: 'Load the page again. If it stays so, start Sotto again.',
  },
  cancelled: { what: 'This was stopped.', means: 'What was done before is kept.', do: 'Try again when you like.' },
  shuttingDown: { what: 'Sotto is closing.', means: 'Everything stored is safe.', do: 'Wait for it to start again.' },
  handleClosed: {
    what: 'A part of Sotto was already closed.',
    means: 'Your messages are safe.',
    do: 'Try again; the part is opened anew.',
  },
  notFound: { what: 'This is not there any more.', means: 'Nothing else was changed.', do: 'Load the page again to see what is there.' },
  internal: {
    what: 'Something went wrong.',
    means: 'Your text is safe.',
    do: 'Try again. If you report it, give the number {{incident}}.',
  },

  dataDirInUse: {
    what: 'Another Sotto already uses this data folder.',
    means: 'Your chats are safe. Only one program may write them at a time.',
    do: 'Use the other window, or close it and start again here.',
  },
  dbFromFuture: {
    what: 'Your chats were written by a newer Sotto (format {{found}}; this one knows {{known}}).',
    means: 'Nothing was touched. This version would damage them, so it does not open them.',
    do: 'Start the newer Sotto, or update this one, then start again.',
  },
  dbDamaged: {
    what: 'Chats cannot be read: the file is damaged.',
    means: 'The damaged file was put aside as {{movedTo}}, not deleted. Newest backup: {{backupTime}}.',
    do: 'Restore the backup, or start with no chats. The damaged file stays in either case.',
  },
  storeFull: {
    what: 'The disk is full ({{freeBytes}} free).',
    means: 'The last step was not saved. Everything before it is.',
    do: 'Free some space, then try again.',
  },
  storeBusy: { what: 'The store was busy for too long.', means: 'This step was not saved; your text is kept.', do: 'Try again.' },
  storeReadOnly: {
    what: 'The disk cannot be written.',
    means: 'You can read your chats, but nothing new is saved.',
    do: 'Check the disk and the rights of the data folder, then try again.',
  },
  storeIo: {
    what: 'The disk reported a fault.',
    means: 'This step may not be saved. Everything before it is.',
    do: 'Try again. If it stays so, check the disk.',
  },

  agentNotFound: { what: 'The assistant of this chat is not there.', means: 'The chat can still be read.', do: 'Start a new chat.' },
  sessionNotFound: {
    what: 'This chat is not there any more.',
    means: 'It was erased, here or in another window.',
    do: 'Start a new chat.',
  },
  sessionConflict: {
    what: 'A chat with this number exists already.',
    means: 'Nothing was stored. Your text is kept.',
    do: 'Send it again in a new chat.',
  },
  sessionLogTooLarge: {
    what: 'This chat has reached its largest size.',
    means: 'All of it stays readable. Your new text is kept in the field.',
    do: 'Go on in a new chat.',
  },
  turnNotFound: { what: 'This answer is not there any more.', means: 'Nothing else was changed.', do: 'Load the page again.' },
  turnActive: {
    what: 'An answer still runs in this chat.',
    means: 'Your text is kept in the field, not sent.',
    do: 'Wait for the answer, or stop it, then send.',
  },
  turnMismatch: {
    what: 'Another answer runs in this chat by now.',
    means: 'Nothing was stopped or changed.',
    do: 'Look at the running answer and decide again.',
  },
  noActiveTurn: { what: 'There was nothing to stop.', means: 'The answer had already ended.', do: 'Read on.' },
  idempotencyKeyReused: {
    what: 'Two different messages carried the same number.',
    means: 'The second one was not stored. Your text is kept.',
    do: 'Send it again.',
  },
  staleWriter: { what: 'An older part of Sotto tried to write.', means: 'It was refused; what is stored is right.', do: 'Try again.' },
  invalidAppend: {
    what: 'This step could not be stored ({{reason}}).',
    means: 'What was stored before is right.',
    do: 'Try again. If it stays so, start a new chat.',
  },
  eventTooLarge: {
    what: 'This message is too large: {{bytes}}; at most {{maxBytes}} fit.',
    means: 'It was not stored. Your text is kept in the field.',
    do: 'Shorten it, or send it in parts.',
  },
  historyTooLarge: { what: 'This chat is too long to be read at once.', means: 'Nothing is lost.', do: 'Try again; it is read in parts.' },
  cursor: { what: 'The place in this list is no longer valid.', means: 'Nothing is lost.', do: 'Read the list again from the top.' },
  contextOverflow: {
    what: 'This message needs {{tokens}} tokens; the model holds {{contextSize}}.',
    means: 'The message is stored. It was not answered, and nothing of it was left out in silence.',
    do: 'Shorten it, or ask in parts.',
  },
  turnTimeout: {
    what: 'The answer took longer than allowed and was stopped.',
    means: 'Your message is safe, and what was written is kept.',
    do: 'Ask again, in smaller parts if you can.',
  },
  modelStalled: {
    what: 'The model stopped moving ({{cause}}).',
    means: 'Your message is safe, and what was written is kept.',
    do: 'Ask again.',
  },
  interrupted: {
    what: 'The answer was cut off.',
    means: 'Your message is safe, and what was written is kept.',
    do: 'Ask again.',
  },
  tooManyRequests: {
    what: 'Too much was asked at once.',
    means: 'This was not done. Your text is kept.',
    do: 'Try again in {{retryAfterSeconds}} s.',
  },
  searchTimeout: {
    what: 'The search took too long.',
    means: 'Nothing is lost; some hits may be missing.',
    do: 'Use a longer or rarer word, then search again.',
  },

  localInferenceUnavailable: {
    what: 'No model can run on this machine now: {{reasons}}.',
    means: 'Your message is safe. It was not answered.',
    do: 'Try again after the cause is gone.',
  },
  modelNotInstalled: {
    what: 'The model that should answer is not on this machine.',
    means: 'Your message is safe. It was not answered.',
    do: 'Get the model, then ask again.',
  },
  modelDoesNotFit: {
    what: 'The model needs about {{needBytes}} of memory; {{freeBytes}} are free.',
    means: 'Your message is safe. It was not answered.',
    do: 'Close other programs, then ask again.',
  },
  modelFileCorrupt: {
    what: 'The model file is damaged ({{reason}}).',
    means: 'Your message is safe. The file is not used.',
    do: 'Get the model again.',
  },
  modelArchUnsupported: {
    what: 'This Sotto cannot run a model of the kind {{architecture}}.',
    means: 'Your message is safe. The file is not used.',
    do: 'Get another model.',
  },
  templateRejected: {
    what: 'The model came with a chat form that Sotto cannot use ({{reason}}).',
    means: 'Your message is safe. It was not answered.',
    do: 'Get another model.',
  },
  modelDisabled: {
    what: 'The model was switched off after it stopped {{crashes}} times.',
    means: 'Your message is safe. It was not answered.',
    do: 'Try the model again, or close other programs first.',
  },
  nativeLibraryMissing: {
    what: 'A part that computes is missing: {{library}}.',
    means: 'Your chats can be read; nothing can be answered.',
    do: 'Install Sotto again, then start it.',
  },
  nativeAbiMismatch: {
    what: '{{library}} is another version than this Sotto needs ({{found}} instead of {{expected}}).',
    means: 'It was not used, so nothing was harmed. Your chats can be read.',
    do: 'Install Sotto again, then start it.',
  },
  unsupported: { what: 'This cannot be done here: {{what}}.', means: 'Nothing was changed.', do: 'Go on without it.' },
  engineStarting: { what: 'The model is still starting.', means: 'Your message is safe.', do: 'Ask again in a moment.' },
  engineBreakerOpen: {
    what: 'The model stopped several times in a row, so it rests for {{retryAfter}}.',
    means: 'Your message is safe. It was not answered.',
    do: 'Ask again after that time.',
  },
  engineCrashed: {
    what: 'The model stopped while {{stage}}.',
    means: 'Your message is safe, and what was written is kept. The model starts again by itself.',
    do: 'Ask again.',
  },
  engineFault: {
    what: 'The model gave an answer that cannot be right ({{stage}}), so it was stopped.',
    means: 'Your message is safe, and what was written is kept.',
    do: 'Ask again.',
  },
  engineTimeout: {
    what: 'The model did not answer in time while {{stage}}.',
    means: 'Your message is safe, and what was written is kept. The model starts again by itself.',
    do: 'Ask again.',
  },
  outOfMemory: {
    what: 'The model stopped (out of memory while {{stage}}).',
    means: 'Your message is safe.',
    do: 'Close other programs or start a shorter chat, then ask again.',
  },
  runtimeUnavailable: {
    what: 'The part of Sotto that keeps your chats does not answer.',
    means: 'What is stored is safe, and what you typed stays here.',
    do: 'Try again.',
  },

  modelUnknown: { what: 'The model {{modelId}} is not in the list.', means: 'Nothing was fetched.', do: 'Choose a model of the list.' },
  jobNotFound: { what: 'This download is not there any more.', means: 'Nothing else was changed.', do: 'Start the download over.' },
  jobState: { what: 'This download is in the state “{{phase}}” by now.', means: 'Nothing was changed.', do: 'Look at it again.' },
  diskFull: {
    what: 'The disk is full: {{neededBytes}} are needed, {{freeBytes}} are free.',
    means: 'What was fetched so far is kept.',
    do: 'Free some space, then go on.',
  },
  noNetwork: { what: 'There is no network.', means: 'What was fetched so far is kept.', do: 'Connect this machine, then go on.' },
  offline: {
    what: 'Sotto is switched to offline.',
    means: 'Nothing was asked from the network.',
    do: 'Allow the network, then try again.',
  },
  downloadStalled: {
    what: 'The sender stopped sending.',
    means: 'What was fetched so far is kept.',
    do: 'Go on; it continues where it was.',
  },
  downloadHttp: {
    what: 'The sender answered with {{status}} instead of the file.',
    means: 'What was fetched so far is kept.',
    do: 'Try again later.',
  },
  hubGatedRepo: { what: 'The owner of this model asks for a sign-in.', means: 'Nothing was fetched.', do: 'Get another model.' },
  sourceFileMissing: { what: 'The file is not where it should be.', means: 'Nothing was fetched.', do: 'Try again later.' },
  packageClientMissing: {
    what: 'The program {{client}}, which fetches this model, is not on this machine.',
    means: 'Nothing was fetched.',
    do: 'Install {{client}}, then try again.',
  },
  packageFetchFailed: {
    what: '{{client}} could not fetch the model. Its last line: {{lastLine}}',
    means: 'Nothing was installed.',
    do: 'Check the network, then try again.',
  },
  hashMismatch: {
    what: 'The file that came is not the right one: its checksum differs.',
    means: 'It was deleted and never used.',
    do: 'Start the download over.',
  },
  sizeMismatch: {
    what: 'The file that came has the wrong size: {{actualSize}} instead of {{expectedSize}}.',
    means: 'It was deleted and never used.',
    do: 'Start the download over.',
  },
  notAModel: {
    what: 'What came is no model. It begins with: {{firstLine}}',
    means: 'It was deleted and never used. A sign-in page of the network often looks like this.',
    do: 'Check the network, then start the download over.',
  },
  insecureRedirect: {
    what: 'The sender pointed to an address without encryption.',
    means: 'Sotto did not follow, and nothing was fetched.',
    do: 'Try again later or in another network.',
  },
  tooManyRedirects: {
    what: 'The sender pointed from one address to the next without end.',
    means: 'Nothing was fetched.',
    do: 'Try again later.',
  },
  archiveUnsafeMember: {
    what: 'The package holds a file that would land outside its folder.',
    means: 'It was not unpacked.',
    do: 'Report this package; get another model.',
  },
  archiveTooLarge: { what: 'The package is larger than it says.', means: 'It was not unpacked.', do: 'Get another model.' },

  forbiddenHost: {
    what: 'This address is not the one Sotto answers at.',
    means: 'Nothing was read.',
    do: 'Use the address that Sotto printed.',
  },
  forbiddenOrigin: {
    what: 'Another page tried to speak with Sotto.',
    means: 'It was refused. Nothing was read.',
    do: 'Use the page that Sotto serves.',
  },
  unauthorized: { what: 'This page is not signed in.', means: 'Your chats are safe. What you typed stays here.', do: 'Sign in again.' },
  methodNotAllowed: { what: 'This address does not take that kind of request.', means: 'Nothing was changed.', do: 'Load the page again.' },
  unsupportedMediaType: { what: 'This kind of content is not taken.', means: 'Nothing was changed.', do: 'Send it as JSON.' },
  payloadTooLarge: {
    what: 'This is too large: at most {{maxBytes}} are taken.',
    means: 'It was not stored. Your text is kept in the field.',
    do: 'Shorten it, or send it in parts.',
  },
  requestTimeout: { what: 'The request took too long to arrive.', means: 'It was not stored. Your text is kept.', do: 'Try again.' },
  notReady: { what: 'Sotto is still starting.', means: 'Your chats are safe.', do: 'Wait and try again.' },
  bindRefused: { what: 'Sotto may not listen at {{host}}.', means: 'Nothing listens.', do: 'Use an address of this machine.' },
  portInUse: { what: 'Port {{port}} is taken by another program.', means: 'Nothing listens.', do: 'Use another port, then start again.' },

  vadUnavailable: {
    what: 'The part that notices speech is missing.',
    means: 'Talking hands-free is off; holding the talk key works.',
    do: 'Get it on the Models page.',
  },
  asrUnavailable: { what: 'The part that understands speech is missing.', means: 'Typing works.', do: 'Get it on the Models page.' },
  ttsUnavailable: { what: 'There is no voice to speak with.', means: 'Answers stay readable.', do: 'Get a voice on the Models page.' },
  voiceUnknown: { what: 'This voice is not here.', means: 'No other voice was taken instead.', do: 'Choose another voice.' },
  textUnspeakable: { what: 'There is nothing in this text to say aloud.', means: 'It stays readable.', do: 'Choose another text.' },
  invalidAudio: { what: 'This sound cannot be used.', means: 'Nothing was heard.', do: 'Record it again.' },
  audioTooShort: { what: 'The sound is too short.', means: 'Nothing was heard.', do: 'Speak a little longer.' },
  audioFormatUnsupported: {
    what: 'This kind of sound file is not read.',
    means: 'Nothing was heard.',
    do: 'Save it as WAV and try again.',
  },

  micDenied: {
    what: 'Sotto may not use the microphone.',
    means: 'Nothing was recorded. You can go on by typing.',
    do: 'Allow the microphone in the settings of the system or of the browser, then try again.',
  },
  micMissing: {
    what: 'There is no microphone.',
    means: 'Nothing was recorded. You can go on by typing.',
    do: 'Connect one, then try again.',
  },
  micUnreadable: {
    what: 'No sound can be read from {{device}}.',
    means: 'Nothing was recorded. Another program may be using it.',
    do: 'Close that program or choose another microphone, then try again.',
  },
  micSilent: {
    what: 'No sound came from {{device}}.',
    means: 'Nothing was heard. What you said before is kept.',
    do: 'Check its switch and its volume, or choose another microphone.',
  },
  micMuted: {
    what: 'The microphone is muted.',
    means: 'No sound reaches Sotto.',
    do: 'Unmute it, then talk.',
  },
  userOnly: {
    what: 'Only a person may do this.',
    means: 'Nothing was changed.',
    do: 'Do it in the window or on the page.',
  },
  voiceDeviceChanged: {
    what: 'The microphone changed. Sotto now listens to {{device}}.',
    means: 'What you had said until then is kept.',
    do: 'Go on talking, or choose another microphone.',
  },
  deviceLost: {
    what: 'The {{kind}} is gone.',
    means: 'What was said until then is kept. You can go on by typing and reading.',
    do: 'Connect it again, then try again.',
  },
  voiceBusy: { what: 'Someone is talking to Sotto in another window.', means: 'Nothing was changed.', do: 'End it there, then try again.' },
  voiceNotArmed: { what: 'Voice is off.', means: 'No sound reaches Sotto.', do: 'Turn voice on, then talk.' },
  voiceLineUnknown: { what: 'The way for sound was cut.', means: 'Nothing was heard.', do: 'Try again.' },
  nothingHeard: {
    what: 'I heard nothing.',
    means: 'No question was sent. The microphone is {{device}}.',
    do: 'Speak a little louder, or choose another microphone.',
  },
  asrFailed: { what: 'What you said could not be understood.', means: 'No question was sent.', do: 'Say it again, or type it.' },
  ttsFailed: { what: 'The voice stopped.', means: 'The answer is here to read.', do: 'Ask again to hear it.' },
  voiceTooLong: {
    what: 'That was two minutes without a pause.',
    means: 'What was said until then is sent.',
    do: 'Go on with the next part.',
  },
  voiceIdle: { what: 'Nobody talked for ten minutes.', means: 'The microphone is closed.', do: 'Press the talk key to go on.' },
  voiceMemory: {
    what: 'Voice was turned off: there is too little free RAM.',
    means: 'Typing works.',
    do: 'Close other programs, then turn it on again.',
  },
  voicePageGone: { what: 'The window that was talked to is gone.', means: 'Its answer goes on as text.', do: 'Turn voice on here.' },
  voiceActivitySpare: {
    what: 'An older model notices speech.',
    means: 'Talking works. The newer one is missing or damaged.',
    do: 'Get it on the Models page.',
  },
  voiceSlower: {
    what: 'Talking is slower than usual here.',
    means: 'The slowest step is {{stage}}.',
    do: 'Close other programs that are at work.',
  },
} as const;
