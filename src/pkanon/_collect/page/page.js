import { systemWords, readPlan, codeOf, randomise, isPossible, chanceOf, oddsFactor, blindToken, finalize, digest, toHex, toBase64, fromBase64, randomBytes, submission, newKey, post, get } from "./pkanon.js";

/*
 * The page: explain, ask, then draw + save + send in one action.
 *
 * What a person really answers is in `answers`, in memory, and nowhere else: no name, no address bar, no storage. It is
 * emptied by the draw, and when the page is left. The browser's storage has one entry for each survey:
 *   {claim}                 an invitation that is being redeemed
 *   {token, signature}      an invitation that was redeemed
 *   {record, ...proof}      a randomised record that the service has not acknowledged yet
 *   {done} or {closed}      nothing else
 * Other windows share it. So after every wait it is read again, and nothing that another window has reached is overwritten.
 */

// ---------------------------------------------------------------- words

/** What the page itself says. To add a language, add a table with the same keys. */
const WORDS = {
  en: {
    languages: "Language",
    by: "A survey by {organiser}",
    contact: "Questions? {contact}",
    more: "More about this survey",
    learn: "What can others learn about you?",
    learnLead: "Once {n} people are in the data, nobody who looks at the data alone can tell which row is yours with better odds than 1 in {k}. We could, if we noted when your answer came. Our program does not note it.",
    learnOnly: "Nobody can tell for certain which of the answers that your device sends are true.",
    learnOnlyHint: "What your device sends is a strong hint at what you said. But nobody can tell for certain which of the answers in it are true.",
    whoLearns: "Who can learn what",
    who: "Who",
    what: "What they can learn",
    us: "The people running the survey",
    usLearn: "What your device sends, in which answers were replaced at random. It can be {hint}. It is never proof of what you said. We could also note when it came and from which address, and so know which row is yours.",
    hint: "a hint",
    strongHint: "a strong hint",
    thief: "Somebody who steals the data",
    thiefLearn: "The same rows. Names, addresses and times are not stored.",
    watcher: "Somebody who watches your connection",
    watcherLearn: "That you took part, and when. Even somebody who could read the message would see answers after the replacement only.",
    finder: "Somebody who uses your device later",
    finderLearn: "That you took part, and what your device will send, as long as that waits for a connection. What you answered is not kept on the device.",
    court: "A court or an authority",
    courtLearn: "The rows that are stored, if it orders us to hand them over: without names, addresses and times. It could also order us to note, from then on, who sends which row. Even then nobody can tell for certain which answers in a row are true.",
    inviter: "Whoever invited you",
    inviterLearn: "That you opened the invitation. Nothing that your device sends with your answers fits one invitation better than another. But both come from the same address, some time apart: whoever notes addresses or times of both could match them.",
    inviterStrictLearn: "That you opened the invitation. Nothing that your device sends with your answers fits one invitation better than another. Addresses and times could match them; so this survey has other people, or another period, for invitations than for answers. You rely on their staying apart.",
    open: "What is not protected",
    openLearn: "That you took part. And whoever receives your answers first could note the time and your address, and so know which row is yours. Then only the random replacement protects you. Somebody who knows which rows belong to others, or has sent many of them, has fewer left to search for yours. So has somebody who knows when you answered and kept the results that were shown before and after.",
    how: "How it works, in numbers",
    howLead: "Your device replaces {amount} answers at random before it sends them. So “{value}” in the data does not mean that the person said “{value}”.",
    few: "a few",
    some: "some",
    half: "about half of the",
    most: "most",
    nearly: "nearly all",
    example: "An example: of 100 people who answer “{said}” to “{question}”, about {count} are sent as “{sent}”.",
    exampleMany: "An example: of 100 people who answer “{said}” to “{question}”, about {kept} are sent as “{said}” and about {count} as something else.",
    exampleNumber: "An example: of 100 people who answer “{question}”, about {kept} are sent with the answer they gave and about {count} with another one.",
    below: "Some answers are sent less often than pure chance would send them; the statistics correct for it. For 100 people who answer “{said}” to “{question}”, picking blindly would send about {blind} as “{said}”; here it is about {kept}.",
    truth: "Please answer truthfully: the statistics correct for the replacements.",
    odds: "The numbers for every question",
    oddsKept: "Of 100 people, sent as they answered",
    oddsOther: "Sent with another answer",
    question: "Question",
    range: "{low} to {high}",
    between: "{low} to below {high}",
    consent: "I have read this and want to take part.",
    consentMissed: "Tick this box if you want to take part.",
    start: "Start",
    resume: "Go on with my answers",
    resumeNote: "Your answers are still here, in this open page only. They are lost when you leave or reload it.",
    experts: "For experts: numbers, and how to check this page",
    factor: "Whatever is sent changes the odds between any two sets of answers by a factor of {factor} at most (epsilon {epsilon}).",
    pageHash: "SHA-256 of this page",
    surveyHash: "Survey digest",
    planHash: "Plan digest",
    check: "Compare these with what the organiser published. “pkanon collect check” does it for you.",
    files: "Read what this page works with:",
    program: "The program of this page",
    fileNote: "This is in the page that you have open.",
    fileLink: "The same as the service publishes it (opens a new tab)",
    goBack: "Back",
    practice: "Test the dice",
    questions: "Questions",
    questionsNote: "Nothing is sent before you press the button at the end. If you leave or reload this page before, your answers are lost: they are saved nowhere.",
    explained: "Back to the explanations",
    optional: "(optional)",
    mayStayOpen: "You may leave this open. It then counts as “{label}”.",
    choose: "Choose an answer.",
    pick: "Please choose",
    whole: "Enter a whole number from {low} to {high}.",
    wholeLeast: "Enter a whole number, {low} or more.",
    wholeMost: "Enter a whole number, {high} or less.",
    wholeAny: "Enter a whole number.",
    numberBetween: "Enter a number from {low} to below {high}.",
    numberLeast: "Enter a number, {low} or more.",
    numberBelow: "Enter a number below {high}.",
    number: "Enter a number.",
    together: "This does not go together with your other answers.",
    counts: "Counted as {group}",
    notSaid: "I prefer not to say",
    wrong: "Please check your answers",
    sendNote: "When you press the button, your device draws, saves and sends in one step. After that nothing can be changed.",
    send: "Send my answers",
    sending: "Sending",
    sendingNow: "Your answers have been randomised and are being sent.",
    apart: "To make it harder to match your invitation with your answers, this page waits a moment before it sends: 20 seconds at most. Please keep it open.",
    saved: "Not sent yet",
    savedOffline: "The survey cannot be reached at the moment. What will be sent is saved on this device. It is sent as soon as there is a connection. You can also close this page and open it again later.",
    savedBusy: "The survey takes no answers at the moment. What will be sent is saved on this device. This page tries again by itself. You can also close it and open it again later.",
    again: "Try again now",
    done: "Thank you",
    doneNow: "Your answers have arrived. You can close this page.",
    doneBefore: "This device has already sent answers to this survey. There is nothing more to do.",
    sent: "See what was sent",
    sentNote: "These are the exact bytes that left your device. Answers in them can differ from yours, and nobody else can tell for certain which of them are true: that is the protection. They are gone when you leave this page.",
    hide: "Close this view",
    sentValue: "Was sent as",
    closed: "This survey is closed",
    closedNote: "It takes no more answers.",
    closedLost: "It takes no more answers. If yours had not arrived before, they are not counted. They are erased from this device.",
    paused: "The survey takes no answers at the moment. You can answer now; the page sends your answers when it is possible again.",
    offline: "The survey cannot be reached at the moment. You can answer now; the page sends your answers when there is a connection.",
    failed: "Your answers could not be sent",
    failedFor: "The survey did not accept them ({code}). Nothing can be mended here; please tell the organiser.",
    other: "This page does not belong to this survey",
    otherNote: "The service answers for another version and has taken no answers from this page. Open the survey again with the link that you were given.",
    noStorage: "This browser does not let the page save anything",
    noStorageNote: "The randomised answers must be saved before they are sent. Otherwise reloading would draw again. Allow this page to store data, or open it in another browser or in a window that is not private. Nothing has been sent.",
    insecure: "This address is not secure",
    insecureNote: "Browsers offer what this page needs only at addresses that begin with https. Ask the organiser for such a link. Nothing has been sent.",
    invitation: "You need an invitation",
    invitationNote: "Open this page with the whole link from your invitation. Nothing has been sent.",
    used: "This invitation has been used",
    usedNote: "It can be used once, on the device that opened it first. No answers have been sent from here.",
    unknown: "This invitation is not valid",
    unknownNote: "Check that you opened the whole link. If you did, please tell the organiser. No answers have been sent.",
    marking: "This survey cannot be trusted with invitations",
    markingNote: "Its key could mark your invitation, so that your answers could be matched with it. Please do not answer here, and tell the organiser. Nothing has been sent.",
    redeeming: "Checking your invitation",
    redeemingNote: "Step 1 of 3: your device checks the key of the survey and makes a hidden token.",
    redeemingSign: "Step 2 of 3: the hidden token is being signed.",
    redeemingCheck: "Step 3 of 3: your device checks the signature.",
    redeemLater: "The invitation cannot be checked at the moment. This page tries again by itself.",
    noAddress: "This page was opened from a file, and it does not say where answers go. So you can read and test it, but not answer here. To answer, open the survey with its link.",
    practiceNote: "A test. Nothing on this page is ever sent or saved.",
    practiceLead: "Answer as you like. The draw is made by the same code and with the same numbers as a real one, and you see the random words behind it.",
    drawOne: "Draw once",
    drawMany: "Draw 1,000 times",
    drawn: "One draw",
    drawnNote: "Whoever puts these words and answers into “pkanon collect answer --practice --words” gets the same result.",
    answered: "Answered",
    becomes: "Drawn",
    words: "Random words: block/draw/round, and the number",
    many: "1,000 draws",
    manyNote: "What the plan says is computed from the plan alone. Of 100 numbers, about 95 fall into the usual range.",
    value: "Answer",
    planned: "Plan says",
    usual: "Usual range",
    counted: "Drawn",
    anotherValue: "Any other answer",
    leavePractice: "End the test and forget these answers",
  },
  de: {
    languages: "Sprache",
    by: "Eine Umfrage von {organiser}",
    contact: "Fragen? {contact}",
    more: "Mehr zu dieser Umfrage",
    learn: "Was können andere über Sie erfahren?",
    learnLead: "Sobald {n} Personen in den Daten sind, gilt: Wer nur dort nach Ihrer Zeile sucht, liegt höchstens in 1 von {k} Fällen richtig. Wir könnten sie kennen, wenn wir festhielten, wann Ihre Antwort eintraf. Unser Programm hält das nicht fest.",
    learnOnly: "Niemand kann mit Gewissheit sagen, welche der Antworten, die Ihr Gerät sendet, wahr sind.",
    learnOnlyHint: "Was Ihr Gerät sendet, ist ein starker Hinweis darauf, was Sie gesagt haben. Aber niemand kann mit Gewissheit sagen, welche der Antworten darin wahr sind.",
    whoLearns: "Wer was erfahren kann",
    who: "Wer",
    what: "Was sich erfahren lässt",
    us: "Wer die Umfrage durchführt",
    usLearn: "Was Ihr Gerät sendet; darin sind Antworten zufällig ersetzt. Das kann {hint} sein. Ein Beweis dafür, was Sie gesagt haben, ist es nie. Wir könnten auch festhalten, wann es eintraf und von welcher Adresse, und so Ihre Zeile kennen.",
    hint: "ein Hinweis",
    strongHint: "ein starker Hinweis",
    thief: "Wer die Daten stiehlt",
    thiefLearn: "Dieselben Zeilen. Namen, Adressen und Uhrzeiten werden nicht gespeichert.",
    watcher: "Wer Ihre Verbindung beobachtet",
    watcherLearn: "Dass Sie teilgenommen haben, und wann. Selbst wer die Nachricht lesen könnte, sähe die Antworten erst nach dem Ersetzen.",
    finder: "Wer später Ihr Gerät benutzt",
    finderLearn: "Dass Sie teilgenommen haben, und was Ihr Gerät senden wird, solange das auf eine Verbindung wartet. Was Sie geantwortet haben, bleibt nicht auf dem Gerät.",
    court: "Ein Gericht oder eine Behörde",
    courtLearn: "Die gespeicherten Zeilen, wenn es ihre Herausgabe anordnet: ohne Namen, Adressen und Uhrzeiten. Es könnte auch anordnen, dass wir von da an festhalten, wer welche Zeile sendet. Selbst dann kann niemand mit Gewissheit sagen, welche Antworten in einer Zeile wahr sind.",
    inviter: "Wer Sie eingeladen hat",
    inviterLearn: "Dass Sie die Einladung geöffnet haben. Was Ihr Gerät mit den Antworten sendet, passt zu jeder Einladung gleich gut. Aber beides kommt von derselben Adresse und bald nacheinander: Wer von beidem Adressen oder Uhrzeiten festhält, könnte es einander zuordnen.",
    inviterStrictLearn: "Dass Sie die Einladung geöffnet haben. Was Ihr Gerät mit den Antworten sendet, passt zu jeder Einladung gleich gut. Adressen und Uhrzeiten könnten beides verbinden; deshalb sind bei dieser Umfrage für Einladungen andere Leute zuständig als für Antworten, oder es gilt ein anderer Zeitraum. Sie verlassen sich darauf, dass beides getrennt bleibt.",
    open: "Was nicht geschützt ist",
    openLearn: "Dass Sie teilgenommen haben. Außerdem könnte, wer Ihre Antworten zuerst empfängt, die Uhrzeit und Ihre Adresse festhalten und so Ihre Zeile kennen. Dann schützt Sie nur noch das zufällige Ersetzen. Wer weiß, welche Zeilen zu anderen gehören, oder selbst viele gesendet hat, sucht Ihre unter weniger Zeilen. Das gilt auch, wenn jemand weiß, wann Sie geantwortet haben, und die Ergebnisse aufgehoben hat, die davor und danach gezeigt wurden.",
    how: "So funktioniert es, in Zahlen",
    howLead: "Ihr Gerät ersetzt {amount} Antworten zufällig, bevor es sie sendet. Steht in den Daten „{value}“, heißt das also nicht, dass die Person „{value}“ gesagt hat.",
    few: "wenige",
    some: "einige",
    half: "etwa die Hälfte der",
    most: "die meisten",
    nearly: "fast alle",
    example: "Ein Beispiel: Von 100 Personen, die auf „{question}“ mit „{said}“ antworten, wird bei etwa {count} „{sent}“ gesendet.",
    exampleMany: "Ein Beispiel: Von 100 Personen, die auf „{question}“ mit „{said}“ antworten, wird bei etwa {kept} „{said}“ gesendet und bei etwa {count} etwas anderes.",
    exampleNumber: "Ein Beispiel: Von 100 Personen, die auf „{question}“ antworten, wird bei etwa {kept} die gegebene Antwort gesendet und bei etwa {count} eine andere.",
    below: "Manche Antworten werden seltener gesendet, als es der reine Zufall täte; die Statistik rechnet das wieder heraus. Bei 100 Personen, die auf „{question}“ mit „{said}“ antworten, würde blindes Wählen bei etwa {blind} „{said}“ senden; hier geschieht es bei etwa {kept}.",
    truth: "Bitte antworten Sie ehrlich: Die Statistik rechnet die Ersetzungen wieder heraus.",
    odds: "Die Zahlen zu jeder Frage",
    oddsKept: "Von 100 Personen so gesendet, wie sie geantwortet haben",
    oddsOther: "Mit einer anderen Antwort gesendet",
    question: "Frage",
    range: "{low} bis {high}",
    between: "{low} bis unter {high}",
    consent: "Ich habe das gelesen und möchte teilnehmen.",
    consentMissed: "Setzen Sie hier das Häkchen, wenn Sie teilnehmen möchten.",
    start: "Beginnen",
    resume: "Mit meinen Antworten weitermachen",
    resumeNote: "Ihre Antworten sind noch da, nur in dieser offenen Seite. Sie gehen verloren, wenn Sie die Seite verlassen oder neu laden.",
    experts: "Für Fachleute: Zahlen, und wie sich diese Seite prüfen lässt",
    factor: "Was auch gesendet wird: Das Chancenverhältnis zwischen zwei beliebigen Antwortbögen ändert sich dadurch höchstens um den Faktor {factor} (Epsilon {epsilon}).",
    pageHash: "SHA-256 dieser Seite",
    surveyHash: "Prüfsumme der Umfrage",
    planHash: "Prüfsumme des Plans",
    check: "Vergleichen Sie diese Werte mit denen, die der Veranstalter veröffentlicht hat. „pkanon collect check“ erledigt das für Sie.",
    files: "Lesen, womit diese Seite arbeitet:",
    program: "Das Programm dieser Seite",
    fileNote: "Das steht in der Seite, die Sie offen haben.",
    fileLink: "Dasselbe, wie der Dienst es veröffentlicht (öffnet einen neuen Tab)",
    goBack: "Zurück",
    practice: "Die Würfel testen",
    questions: "Fragen",
    questionsNote: "Gesendet wird erst, wenn Sie am Ende auf die Schaltfläche drücken. Verlassen Sie die Seite vorher oder laden Sie sie neu, sind Ihre Antworten verloren: Sie werden nirgends gespeichert.",
    explained: "Zurück zu den Erklärungen",
    optional: "(freiwillig)",
    mayStayOpen: "Das dürfen Sie offen lassen. Es zählt dann als „{label}“.",
    choose: "Wählen Sie eine Antwort.",
    pick: "Bitte wählen",
    whole: "Geben Sie eine ganze Zahl von {low} bis {high} ein.",
    wholeLeast: "Geben Sie eine ganze Zahl ein, {low} oder mehr.",
    wholeMost: "Geben Sie eine ganze Zahl ein, {high} oder weniger.",
    wholeAny: "Geben Sie eine ganze Zahl ein.",
    numberBetween: "Geben Sie eine Zahl von {low} bis unter {high} ein.",
    numberLeast: "Geben Sie eine Zahl ein, {low} oder mehr.",
    numberBelow: "Geben Sie eine Zahl unter {high} ein.",
    number: "Geben Sie eine Zahl ein.",
    together: "Das passt nicht zu Ihren anderen Antworten.",
    counts: "Zählt als {group}",
    notSaid: "Möchte ich nicht sagen",
    wrong: "Bitte prüfen Sie Ihre Antworten",
    sendNote: "Sobald Sie auf die Schaltfläche drücken, würfelt, speichert und sendet Ihr Gerät in einem Schritt. Danach lässt sich nichts mehr ändern.",
    send: "Antworten senden",
    sending: "Wird gesendet",
    sendingNow: "Ihre Antworten sind zufällig verändert und werden gerade gesendet.",
    apart: "Damit sich Einladung und Antworten schwerer verbinden lassen, wartet diese Seite kurz, bevor sie sendet: höchstens 20 Sekunden. Bitte lassen Sie sie so lange offen.",
    saved: "Noch nicht gesendet",
    savedOffline: "Die Umfrage ist gerade nicht erreichbar. Was gesendet wird, ist auf diesem Gerät gespeichert und geht hinaus, sobald es eine Verbindung gibt. Sie können die Seite auch schließen und später wieder öffnen.",
    savedBusy: "Die Umfrage nimmt gerade keine Antworten an. Was gesendet wird, ist auf diesem Gerät gespeichert. Die Seite versucht es von selbst wieder. Sie können sie auch schließen und später wieder öffnen.",
    again: "Jetzt noch einmal versuchen",
    done: "Vielen Dank",
    doneNow: "Ihre Antworten sind angekommen. Sie können diese Seite schließen.",
    doneBefore: "Von diesem Gerät wurde bei dieser Umfrage schon geantwortet. Es ist nichts weiter zu tun.",
    sent: "Ansehen, was gesendet wurde",
    sentNote: "Genau diese Zeichen haben Ihr Gerät verlassen. Antworten darin können von Ihren abweichen, und niemand sonst kann mit Gewissheit sagen, welche davon wahr sind: Das ist der Schutz. Sie sind weg, wenn Sie die Seite verlassen.",
    hide: "Diese Ansicht schließen",
    sentValue: "Gesendet wurde",
    closed: "Diese Umfrage ist beendet",
    closedNote: "Sie nimmt keine Antworten mehr an.",
    closedLost: "Sie nimmt keine Antworten mehr an. Falls Ihre nicht schon vorher angekommen sind, zählen sie nicht mit. Auf diesem Gerät sind sie gelöscht.",
    paused: "Die Umfrage nimmt gerade keine Antworten an. Sie können trotzdem jetzt antworten; die Seite sendet, sobald es wieder geht.",
    offline: "Die Umfrage ist gerade nicht erreichbar. Sie können trotzdem jetzt antworten; die Seite sendet, sobald es eine Verbindung gibt.",
    failed: "Ihre Antworten konnten nicht gesendet werden",
    failedFor: "Die Umfrage hat sie nicht angenommen ({code}). Hier lässt sich das nicht beheben; bitte sagen Sie dem Veranstalter Bescheid.",
    other: "Diese Seite gehört nicht zu dieser Umfrage",
    otherNote: "Der Dienst antwortet für eine andere Fassung und hat von dieser Seite keine Antworten angenommen. Öffnen Sie die Umfrage noch einmal über den Link, den Sie bekommen haben.",
    noStorage: "Dieser Browser lässt die Seite nichts speichern",
    noStorageNote: "Die zufällig veränderten Antworten müssen gespeichert sein, bevor sie gesendet werden. Sonst würde beim Neuladen noch einmal gewürfelt. Erlauben Sie dieser Seite, Daten zu speichern, oder öffnen Sie sie in einem anderen Browser oder in einem Fenster, das nicht privat ist. Es wurde nichts gesendet.",
    insecure: "Diese Adresse ist nicht sicher",
    insecureNote: "Browser bieten das, was diese Seite braucht, nur bei Adressen an, die mit https beginnen. Bitten Sie den Veranstalter um einen solchen Link. Es wurde nichts gesendet.",
    invitation: "Sie brauchen eine Einladung",
    invitationNote: "Öffnen Sie diese Seite mit dem vollständigen Link aus Ihrer Einladung. Es wurde nichts gesendet.",
    used: "Diese Einladung wurde schon verwendet",
    usedNote: "Sie gilt einmal, und zwar auf dem Gerät, auf dem sie zuerst geöffnet wurde. Von hier wurden keine Antworten gesendet.",
    unknown: "Diese Einladung ist nicht gültig",
    unknownNote: "Prüfen Sie, ob Sie den vollständigen Link geöffnet haben. Wenn ja, sagen Sie bitte dem Veranstalter Bescheid. Es wurden keine Antworten gesendet.",
    marking: "Den Einladungen dieser Umfrage ist nicht zu trauen",
    markingNote: "Ihr Schlüssel könnte Ihre Einladung kennzeichnen. Dann ließen sich Ihre Antworten ihr zuordnen. Bitte antworten Sie hier nicht und sagen Sie dem Veranstalter Bescheid. Es wurde nichts gesendet.",
    redeeming: "Ihre Einladung wird geprüft",
    redeemingNote: "Schritt 1 von 3: Ihr Gerät prüft den Schlüssel der Umfrage und bildet eine verdeckte Marke.",
    redeemingSign: "Schritt 2 von 3: Die verdeckte Marke wird unterschrieben.",
    redeemingCheck: "Schritt 3 von 3: Ihr Gerät prüft die Unterschrift.",
    redeemLater: "Die Einladung lässt sich gerade nicht prüfen. Die Seite versucht es von selbst wieder.",
    noAddress: "Diese Seite wurde aus einer Datei geöffnet, und in ihr steht nicht, wohin Antworten gehen. Sie können sie lesen und testen, aber hier nicht antworten. Um zu antworten, öffnen Sie die Umfrage über ihren Link.",
    practiceNote: "Ein Test. Von dieser Seite wird nie etwas gesendet oder gespeichert.",
    practiceLead: "Antworten Sie, wie Sie wollen. Gewürfelt wird mit demselben Programm und denselben Zahlen wie im Ernstfall, und Sie sehen die Zufallszahlen dahinter.",
    drawOne: "Einmal würfeln",
    drawMany: "1.000-mal würfeln",
    drawn: "Ein Wurf",
    drawnNote: "Wer diese Zufallszahlen und Antworten in „pkanon collect answer --practice --words“ eingibt, erhält dasselbe Ergebnis.",
    answered: "Geantwortet",
    becomes: "Gewürfelt",
    words: "Zufallszahlen: Block/Wurf/Runde und die Zahl",
    many: "1.000 Würfe",
    manyNote: "Was der Plan sagt, ist allein aus dem Plan berechnet. Von 100 Zahlen liegen etwa 95 im üblichen Bereich.",
    value: "Antwort",
    planned: "Laut Plan",
    usual: "Üblich",
    counted: "Gewürfelt",
    anotherValue: "Jede andere Antwort",
    leavePractice: "Test beenden und diese Antworten vergessen",
  },
};

// ---------------------------------------------------------------- what the page knows

const asWritten = (id) =>
  document.getElementById(id).textContent.replace(/\\(?:u003c|.)/g, (escape) => (escape === "\\u003c" ? "<" : escape));
const files = { "survey.json": asWritten("survey"), "plan.json": asWritten("plan") };
const program = document.querySelector("script[type=module]").textContent;
const survey = JSON.parse(files["survey.json"]);
const plan = readPlan(JSON.parse(files["plan.json"]));
const questions = survey.questions.map((question) => {
  const place = plan.attributes.findIndex((attribute) => attribute.name === question.attribute);
  return { ...question, place, attribute: plan.attributes[place], unit: plan.units[question.unit] };
});
const base = location.protocol.startsWith("http") ? new URL(".", location.href).href : withSlash(survey.service);
const issuer = survey.issuer ? withSlash(survey.issuer) : base;

let language = preferredLanguage(survey.languages, navigator.languages);
let view = null; // the function that draws what is seen now
let answers = []; // what the person says: a code, or a text that was typed
let aside = null; // the answers to be sent, while practice has the questions
let implied = []; // codes that follow from other answers, so that nobody is asked for them
let mayStayOpen = []; // whether no answer is a possible one
let consent = false;
let missed = new Map(); // question -> a function that says, in the reader's language, what is wrong with its answer
let listed = false; // whether what is wrong is also listed above the questions
let opened = new Set(); // which details are open
let published = null; // {digest, page}: what the service says about the survey
let state = ""; // "offline" or "paused", where the reader should know
let practised = null; // what practice shows
let sent = null; // the body that was acknowledged
let waiting = null; // the timer of the next attempt
let stage = "redeemingNote"; // how far the invitation is
let pause = { from: 0, to: 0 }; // while an answer waits to be sent: when that began and when it ends

/** The language that the reader wants most of those that there are; many readers list English last. */
function preferredLanguage(there, wanted) {
  for (const own of wanted) {
    const found = there.find((tag) => tag.toLowerCase() === own.toLowerCase()) ?? there.find((tag) => tag.split("-")[0] === own.split("-")[0]);
    if (found) return found;
  }
  return there[0];
}

function forget() {
  answers = [];
  aside = null;
  forgetMarks();
}

function forgetMarks() {
  implied = [];
  mayStayOpen = [];
  practised = null;
  missed = new Map();
  listed = false;
}

/** Whether leaving the page would lose answers. */
const isUnsent = () => (aside ?? answers).some((given) => given !== undefined && given !== "");
const warn = (event) => event.preventDefault(); // the browser asks whether to leave

function withSlash(address) {
  return address ? address.replace(/\/*$/, "/") : null;
}

// ---------------------------------------------------------------- storage

const store = {
  place: "",
  async open() {
    this.place = `pkanon ${toHex(await digest("SHA-256", new TextEncoder().encode(files["survey.json"])))}`;
    try {
      localStorage.setItem("pkanon test", "1");
      localStorage.removeItem("pkanon test");
      return true;
    } catch {
      return false;
    }
  },
  read: () => JSON.parse(localStorage.getItem(store.place) ?? "{}"),
  write: (entry) => localStorage.setItem(store.place, JSON.stringify(entry)),
  holds: (entry) => JSON.stringify(store.read()) === JSON.stringify(entry),
  /** Read and write in one step, while no other window does. Without locks it is short enough. */
  async alone(act) {
    try {
      if (navigator.locks) return await navigator.locks.request(store.place, act);
    } catch (error) {
      if (error.name !== "SecurityError") throw error; // some browsers have no locks for files
    }
    return act();
  },
};

// ---------------------------------------------------------------- elements

/** An element; no text is ever read as HTML. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

const spoken = () => (WORDS[language] ? language : WORDS[language.split("-")[0]] ? language.split("-")[0] : "en");
const text = (key, values = {}) => WORDS[spoken()][key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
/** An element with words of the page, marked where the reader's language has none. */
const say = (tag, key, values = {}, attributes = {}) => el(tag, { lang: foreign(), ...attributes }, text(key, values));
const foreign = () => (spoken().split("-")[0] === language.split("-")[0] ? null : spoken());
/** An element with words of the survey. */
const tell = (tag, words, attributes = {}) => el(tag, attributes, words[language]);
const button = (key, act, kind = "action") => say("button", key, {}, { type: "button", class: kind, onclick: act });
const number = (value) => new Intl.NumberFormat(language).format(value);
/** People of 100: never nobody and never everybody, unless that is exact. */
const of100 = (chance) => (chance <= 0 ? 0 : chance >= 1 ? 100 : Math.min(99, Math.max(1, Math.round(100 * chance))));

/** Show a view; focus goes to its heading, so that a reader hears where they are. */
function show(next, focus = true) {
  if (next !== practiceView && aside) {
    answers = aside;
    aside = null;
    forgetMarks();
  }
  view = next;
  redraw();
  guard();
  announce([...document.querySelectorAll("main [data-said]")].map((part) => part.textContent).join(" "));
  if (!focus) return;
  scrollTo(0, 0);
  document.querySelector("main h2")?.focus({ preventScroll: true });
}

/** A view that the browser's Back leaves again, without leaving the page. The history holds the name of the step alone. */
function step(name, file = null) {
  history.pushState({ step: name, file }, "");
  show(STEPS[name]);
}

/** The browser asks before it leaves a page with answers that were not sent. Nothing else could bring them back. */
function guard() {
  if (isUnsent()) addEventListener("beforeunload", warn);
  else removeEventListener("beforeunload", warn);
}

/** Say something to those who hear the page; the element stays when the rest is drawn again. */
function announce(words) {
  const live = document.getElementById("live");
  live.lang = spoken();
  if (live.textContent !== words) live.textContent = words;
}

function redraw() {
  document.documentElement.lang = language;
  document.documentElement.dir = ["ar", "fa", "he", "ur"].includes(language.split("-")[0]) ? "rtl" : "ltr";
  document.title = survey.title[language];
  const heading = (h2) => (h2.setAttribute("tabindex", "-1"), h2);
  const main = el("main", {}, view());
  main.querySelectorAll("h2").forEach(heading);
  document.getElementById("page").replaceChildren(
    el(
      "header",
      {},
      survey.languages.length > 1 ? languageSwitch() : null,
      tell("h1", survey.title),
      say("p", "by", { organiser: survey.organiser }, { class: "quiet" }),
    ),
    main,
    el("footer", { class: "quiet" }, say("p", "contact", { contact: survey.contact })),
  );
}

function languageSwitch() {
  const choices = survey.languages.map((tag) => {
    const name = new Intl.DisplayNames([tag], { type: "language" }).of(tag);
    const change = () => {
      language = tag;
      redraw();
      document.querySelector('.languages [aria-pressed="true"]').focus();
    };
    const shown = name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
    return el("li", {}, el("button", { type: "button", lang: tag, "aria-pressed": String(tag === language), onclick: change }, shown));
  });
  return el("nav", { "aria-label": text("languages") }, el("ul", { class: "languages" }, choices));
}

/** A table with a caption or a label. Roles are written out, because narrow screens show its rows as blocks. */
function table(head, rows, { caption = null, label = null, numbers = [] } = {}) {
  const kind = (i) => (numbers.includes(i) ? { class: "number" } : {});
  const heading = (cell, i) => el("th", { role: "columnheader", scope: "col", lang: foreign(), ...kind(i) }, cell);
  const entry = (cell, i) =>
    i ? el("td", { role: "cell", "data-head": head.length > 2 ? head[i] : null, ...kind(i) }, cell) : el("th", { role: "rowheader", scope: "row" }, cell);
  return el(
    "table",
    { role: "table", "aria-label": label },
    caption && el("caption", {}, caption),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, head.map(heading))),
    el("tbody", { role: "rowgroup" }, rows.map((row) => el("tr", { role: "row" }, row.map(entry)))),
  );
}

/** A view that only says something. */
const notice = (title, note, values = {}, ...more) => [
  say("h2", title, values),
  say("p", note, values, { "data-said": true }),
  ...more,
];

/** Something to open; it stays open when the page is drawn again. */
function details(key, ...children) {
  const toggle = ({ target }) => (target.open ? opened.add(key) : opened.delete(key));
  return el("details", { open: opened.has(key), "data-details": key, ontoggle: toggle }, say("summary", key), children);
}

/** How far something is; without numbers, that it goes on. */
const progress = (label, attributes = {}) => el("progress", { "aria-label": text(label), ...attributes });

// ---------------------------------------------------------------- before the questions

function startView() {
  return [
    introWords(),
    state && say("p", state, {}, { class: "test", "data-said": true }),
    ...shortWords(),
    ...(base ? [consentBox(), ...beginning()] : [say("p", "noAddress", {}, { "data-said": true })]),
    ...longWords(),
  ];
}

/** What others can learn, for those who have answered. */
const aboutView = () => [...shortWords(), ...longWords(), button("goBack", () => history.back(), "action second")];

const LONG_INTRO = 240; // characters; what is longer is cut after a sentence, and the rest can be opened

function introWords() {
  const words = survey.intro?.[language] ?? "";
  const end = words.length > LONG_INTRO ? Math.max(...[...words.slice(0, LONG_INTRO).matchAll(/[.!?](?=\s)|\n/g)].map((match) => match.index + 1), 0) : 0;
  if (!end) return words ? el("p", { class: "lines" }, words) : null;
  return [el("p", { class: "lines" }, words.slice(0, end).trim()), details("more", el("p", { class: "lines" }, words.slice(end).trim()))];
}

/** Claim and condition in one size, what the device does, and what to do. */
function shortWords() {
  const k = Math.floor(Number(survey.k));
  const values = { k: number(k), n: number(survey.expected) };
  return [
    say("h2", "learn"),
    say("p", k > 1 ? "learnLead" : isStrongHint() ? "learnOnlyHint" : "learnOnly", values, { class: "lead" }),
    say("p", "howLead", { amount: text(amountReplaced()), value: exampleValue() }),
    say("p", "truth", {}, { class: "strong" }),
  ];
}

function longWords() {
  const rows = ["us", "thief", "watcher", "finder", "court", ...(survey.mode === "invited" ? ["inviter"] : []), "open"];
  const learned = (row) => (row === "inviter" && survey.strict ? "inviterStrictLearn" : `${row}Learn`);
  const values = { hint: text(isStrongHint() ? "strongHint" : "hint") };
  const cells = rows.map((row) => [say("span", row), say("span", learned(row), values)]);
  return [
    details("whoLearns", table([text("who"), text("what")], cells, { label: text("whoLearns") })),
    details("how", exampleWords(), belowWords(), oddsTable()),
    expertWords(),
  ];
}

/** Codes in which one question has a given answer and the others have any that are possible with it. */
function anyCodes(question, code) {
  const codes = plan.attributes.map(() => 0);
  for (const unit of plan.units) {
    const own = unit.places.map((place) => (place === question.place ? code : null));
    for (let i = 0; i < own.length; i++) {
      for (let c = 0; own[i] === null; c++) {
        if (isPossible(unit, own.map((known, j) => (i === j ? c : known)))) own[i] = c;
      }
    }
    unit.places.forEach((place, i) => (codes[place] = own[i]));
  }
  return codes;
}

/** The chance that an answer is sent as it was given. */
const keptChance = (question, code) => chanceOf(plan, anyCodes(question, code), question.place)(code);

const MOST_SHOWN = 200; // values of a question whose odds are computed one by one

/** The chance of each answer to each question that it is sent as given; of many values, that of the first. */
const keptChances = questions.map((question) => {
  const size = question.attribute.size;
  return Array.from({ length: size <= MOST_SHOWN ? size : 1 }, (_, code) => keptChance(question, code));
});

/** How many answers are sent as something else: the word for their share over all questions. */
function amountReplaced() {
  const mean = (values) => values.reduce((total, value) => total + value, 0) / values.length;
  const share = 1 - mean(keptChances.map(mean));
  return share < 0.1 ? "few" : share < 0.4 ? "some" : share <= 0.6 ? "half" : share < 0.9 ? "most" : "nearly";
}

const STRONG = { kept: 0.9, factor: 100 }; // what makes a strong hint: a question whose answers are sent as given so often, or odds changed so much
const isStrongHint = () => keptChances.some((chances) => Math.min(...chances) >= STRONG.kept) || oddsFactor(plan) >= STRONG.factor;

const exampleQuestion = () => questions.find(({ labels }) => labels?.length === 2) ?? questions.find(({ labels }) => labels) ?? questions[0];
const exampleValue = () => labelOf(exampleQuestion(), exampleQuestion().labels?.length === 2 ? 1 : 0);

function exampleWords() {
  const question = exampleQuestion();
  const kept = keptChance(question, 0);
  const values = { question: question.question[language], kept: of100(kept), count: of100(1 - kept) };
  if (!question.labels) return say("p", "exampleNumber", values);
  const [said, sent] = question.labels.map((label) => label[language]);
  return say("p", question.labels.length === 2 ? "example" : "exampleMany", { ...values, said, sent });
}

/** Where an answer is sent less often than a blind pick among the answers to its question would: the widest such gap. */
function belowWords() {
  const gaps = questions.flatMap((question, i) => keptChances[i].map((kept, code) => ({ question, code, kept, blind: 1 / question.attribute.size })));
  const { question, code, kept, blind } = gaps.reduce((widest, gap) => (gap.blind - gap.kept > widest.blind - widest.kept ? gap : widest));
  if (of100(kept) >= of100(blind)) return null;
  return say("p", "below", { question: question.question[language], said: labelOf(question, code), kept: of100(kept), blind: of100(blind) });
}

function oddsTable() {
  const rows = questions.map((question, i) => {
    const kept = keptChances[i].map(of100);
    const [low, high] = [Math.min(...kept), Math.max(...kept)];
    const range = (a, b) => (a === b ? number(a) : text("range", { low: number(a), high: number(b) }));
    return [question.question[language], range(low, high), range(100 - high, 100 - low)];
  });
  return table([text("question"), text("oddsKept"), text("oddsOther")], rows, { caption: text("odds"), numbers: [1, 2] });
}

/** The box, and beside it what is wrong with it. */
function consentBox() {
  const wrong = missed.get("consent");
  const change = (event) => {
    consent = event.target.checked;
    if (!missed.delete("consent")) return;
    document.getElementById("consent-error").remove();
    box.removeAttribute("aria-invalid");
    box.removeAttribute("aria-describedby");
  };
  const noted = wrong ? { "aria-describedby": "consent-error", "aria-invalid": "true" } : {};
  const box = el("input", { type: "checkbox", id: "consent", autocomplete: "off", onchange: change, ...noted });
  box.checked = consent;
  return [
    el("label", { class: "tick", for: "consent" }, box, say("span", "consent")),
    wrong ? el("p", { id: "consent-error", class: "message", lang: foreign() }, wrong()) : null,
  ];
}

const beginning = () => (isUnsent() ? [say("p", "resumeNote", {}, { class: "quiet" }), button("resume", begin)] : [button("start", begin)]);

function begin() {
  if (consent) return step("questions");
  missed = new Map([["consent", () => text("consentMissed")]]);
  redraw();
  document.getElementById("consent").focus();
}

function expertWords() {
  const factor = oddsFactor(plan);
  const up = (value, digits) => number(Math.ceil(value * 10 ** digits) / 10 ** digits);
  const entries = [["planHash", survey.plan_digest]];
  if (published) entries.unshift(["pageHash", published.page], ["surveyHash", published.digest]);
  return details(
    "experts",
    Number.isFinite(factor) ? say("p", "factor", { factor: up(factor, 1), epsilon: up(Math.log(factor), 2) }) : null,
    el("dl", {}, entries.flatMap(([key, value]) => [say("dt", key), el("dd", {}, el("code", {}, value))])),
    say("p", "check"),
    say("p", "files"),
    el("ul", { class: "plain" }, [...Object.keys(files), "program"].map((name) => el("li", {}, fileButton(name)))),
    button("practice", practice, "link"),
  );
}

const fileName = (name) => (name in files ? name : text("program"));
const fileButton = (name) => el("button", { type: "button", class: "link", lang: name in files ? null : foreign(), onclick: () => step("file", name) }, fileName(name));

/** A file of the page, to read. */
function fileView() {
  const name = history.state.file;
  const back = () => button("goBack", () => history.back(), "action second");
  return [
    el("h2", {}, fileName(name)),
    say("p", "fileNote"),
    base && name in files ? el("p", {}, say("a", "fileLink", {}, { href: new URL(name, base).href, target: "_blank", rel: "noopener noreferrer" })) : null,
    back(),
    el("code", { class: "bytes", translate: "no" }, files[name] ?? program),
    back(),
  ];
}

// ---------------------------------------------------------------- questions

function questionView() {
  return [
    say("h2", "questions"),
    say("p", "questionsNote"),
    listed ? errorSummary() : null,
    questionForm(),
    say("p", "sendNote"),
    button("send", drawAndSend),
    button("explained", () => history.back(), "link"),
  ];
}

/** A form that can send nothing: no action, no names, no submit button; the policy forbids it too. */
function questionForm() {
  const form = el("form", { autocomplete: "off", onsubmit: (event) => event.preventDefault() });
  form.append(...questions.map((question, i) => (question.labels ? choiceQuestion(question, i) : numberQuestion(question, i))));
  refresh(form);
  return form;
}

/** The notes that belong to a question, as a list of ids. */
function notesOf(i) {
  const { help, labels, optional } = questions[i];
  return [help && `help${i}`, (!labels || optional) && `hint${i}`, isGrouped(i) && `group${i}`, missed.has(i) && `error${i}`].filter(Boolean).join(" ") || null;
}

const isGrouped = (i) => !questions[i].labels && Boolean(questions[i].attribute.bins);

function describe(element, i) {
  if (notesOf(i)) element.setAttribute("aria-describedby", notesOf(i));
  else element.removeAttribute("aria-describedby");
}

/** What a question has above its fields. What is marked data-open holds only where no answer is possible. */
function parts(question, i) {
  const { labels, attribute, optional } = question;
  const open = optional ? say("span", "mayStayOpen", { label: labelOf(question, attribute.size - 1) }, { "data-open": true }) : null;
  const hint = labels ? null : el("span", { lang: foreign(), "data-hint": true }, numberHint(question), " ");
  const mark = optional ? [" ", say("span", "optional", {}, { "data-open": true, class: "quiet" })] : null;
  return {
    described: notesOf(i),
    legend: el("legend", { id: `legend${i}` }, question.question[language], mark),
    notes: [
      question.help && tell("p", question.help, { id: `help${i}`, class: "quiet lines" }),
      hint || open ? el("p", { id: `hint${i}`, class: "quiet" }, hint, open) : null,
      missed.has(i) ? errorNote(i) : null,
    ],
  };
}

const errorNote = (i) => el("p", { id: `error${i}`, class: "message", lang: foreign() }, missed.get(i)());

const MOST_BUTTONS = 12; // longer lists are a menu

function choiceQuestion(question, i) {
  const { described, legend, notes } = parts(question, i);
  const mark = missed.has(i) ? "missed" : null;
  if (question.labels.length > MOST_BUTTONS) {
    const change = (event) => answer(i, event.target.value === "" ? undefined : Number(event.target.value));
    const options = question.labels.map((label, code) => tell("option", label, { value: code }));
    const invalid = missed.has(i) ? "true" : null;
    const attributes = { id: `q${i}`, autocomplete: "off", "aria-labelledby": `legend${i}`, "aria-describedby": described, "aria-invalid": invalid };
    const select = el("select", { ...attributes, onchange: change }, say("option", "pick", {}, { value: "" }), options);
    select.value = answers[i] ?? "";
    return el("fieldset", { class: mark, "data-question": i }, legend, notes, select);
  }
  const choose = (event) => answer(i, Number(event.currentTarget.dataset.code));
  const choices = question.labels.map((label, code) =>
    tell("button", label, { type: "button", class: "choice", role: "radio", "data-code": code, onclick: choose, onkeydown: moveChoice }),
  );
  const attributes = { role: "radiogroup", "aria-labelledby": `legend${i}`, "aria-describedby": described, class: mark };
  return el("fieldset", { ...attributes, "data-question": i }, legend, notes, el("div", { class: "choices" }, choices));
}

/** Arrow keys walk through the choices of a question, as in any group of radio buttons. */
function moveChoice(event) {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const choices = [...event.currentTarget.parentElement.children].filter((choice) => !choice.hidden);
  const next = choices[(choices.indexOf(event.currentTarget) + step + choices.length) % choices.length];
  next.click();
  next.focus();
}

function numberQuestion(question, i) {
  const { described, legend, notes } = parts(question, i);
  const whole = question.attribute.type === "integer";
  const input = el("input", {
    type: "text",
    id: `q${i}`,
    inputmode: whole ? "numeric" : "decimal",
    autocomplete: "off",
    spellcheck: "false",
    "aria-labelledby": `legend${i}`,
    "aria-describedby": described,
    "aria-invalid": missed.has(i) ? "true" : null,
    oninput: () => answer(i, input.value),
    onchange: () => judge(i, input),
  });
  input.value = answers[i] ?? "";
  const group = isGrouped(i) ? el("p", { id: `group${i}`, class: "group", role: "status", lang: foreign() }) : null;
  return el("fieldset", { class: missed.has(i) ? "missed" : null, "data-question": i }, legend, notes, input, group);
}

/** A number that is no possible answer is told as soon as the field is left. */
function judge(i, input) {
  if (!(answers[i] ?? "").trim() || codeAt(i) !== null || missed.has(i)) return;
  missed.set(i, () => numberHint(questions[i]));
  input.before(errorNote(i));
  input.setAttribute("aria-invalid", "true");
  describe(input, i);
  input.closest("fieldset").classList.add("missed");
  refresh(document);
  announce(missed.get(i)());
}

function answer(i, value) {
  answers[i] = value;
  if (missed.delete(i)) {
    document.getElementById(`error${i}`).remove();
    document.querySelector(missed.size ? `[data-missed="${i}"]` : ".errors")?.remove();
    if (!missed.size) listed = false;
    const field = document.querySelector(`[data-question="${i}"]`);
    field.classList.remove("missed");
    for (const part of [field, ...field.querySelectorAll("[aria-invalid]")]) {
      part.removeAttribute("aria-invalid");
      if (part.hasAttribute("aria-describedby")) describe(part, i);
    }
  }
  refresh(document);
  guard();
}

/** The code of an answer, or null as long as there is none. A question that may stay open and does has its last one. */
function codeAt(i) {
  const { attribute, labels } = questions[i];
  if (implied[i] !== undefined) return implied[i];
  const typed = typeof answers[i] === "string" ? answers[i].replace(/\s/g, "") : answers[i];
  if (typed === undefined || typed === "") return mayStayOpen[i] ? attribute.size - 1 : null;
  return labels ? typed : codeOf(attribute, attribute.type === "integer" ? ungrouped(typed) : typed.replace(",", "."));
}

/** A whole number as people write it here: 7,391,000 in English is 7.391.000 in German. */
function ungrouped(typed) {
  const mark = new Intl.NumberFormat(language).formatToParts(1e6).find(({ type }) => type === "group")?.value.replace(/\s/g, "");
  const [first, ...rest] = mark ? typed.split(mark) : [typed];
  return rest.every((digits) => /^\d{3}$/.test(digits)) && (!rest.length || /^[+-]?\d{1,3}$/.test(first)) ? first + rest.join("") : typed;
}

/** The codes that a question can have, given the answers before it in its bundle. */
function possibleCodes(i) {
  const { unit, place, attribute } = questions[i];
  const known = unit.places.map((other) => {
    const j = questions.findIndex((question) => question.place === other);
    return j < i ? codeAt(j) : null;
  });
  const codes = [...Array(attribute.size).keys()];
  return codes.filter((code) => isPossible(unit, known.map((value, j) => (unit.places[j] === place ? code : value))));
}

const MOST_TRIED = 1000; // values of a question that are held against the answers before it

/** Show what is chosen; leave out what the answers above rule out, and questions that have one answer left. */
function refresh(root) {
  questions.forEach((question, i) => {
    const field = root.querySelector(`[data-question="${i}"]`);
    if (!field) return;
    const bound = question.unit.forbid.length && question.attribute.size <= MOST_TRIED;
    const possible = bound ? possibleCodes(i) : null;
    implied[i] = possible?.length === 1 ? possible[0] : undefined;
    mayStayOpen[i] = question.optional && (!possible || possible.includes(question.attribute.size - 1));
    field.hidden = implied[i] !== undefined;
    for (const part of field.querySelectorAll("[data-open]")) part.hidden = !mayStayOpen[i];
    const hint = field.querySelector("[data-hint]");
    if (hint) hint.hidden = missed.has(i); // the message says the same
    if (isGrouped(i)) showGroup(field.querySelector(".group"), i);
    if (!question.labels) return;
    if (possible && !possible.includes(answers[i])) answers[i] = undefined;
    const out = (code) => Boolean(possible) && !possible.includes(code);
    const choices = [...field.querySelectorAll("[role=radio]")];
    const first = choices.find((_, code) => !out(code));
    choices.forEach((choice, code) => {
      const chosen = answers[i] === code;
      choice.hidden = out(code);
      choice.setAttribute("aria-checked", String(chosen));
      choice.tabIndex = chosen || (answers[i] === undefined && choice === first) ? 0 : -1;
    });
    const menu = field.querySelector("select");
    if (!menu) return;
    for (const option of menu.options) option.hidden = option.value !== "" && out(Number(option.value));
    menu.value = answers[i] ?? "";
  });
}

/** The group that a number is counted in, before it is sent. */
function showGroup(note, i) {
  const code = (answers[i] ?? "").trim() ? codeAt(i) : null;
  const words = code === null ? "" : text("counts", { group: labelOf(questions[i], code) });
  if (note.textContent !== words) note.textContent = words;
}

/** The codes of all answers in the order of a record; null, and `missed` filled, if one is missing or wrong. */
function checked() {
  missed = new Map();
  const codes = plan.attributes.map(() => null);
  questions.forEach((question, i) => {
    const code = codeAt(i);
    if (code === null) missed.set(i, () => (question.labels ? text("choose") : numberHint(question)));
    codes[question.place] = code;
  });
  for (const unit of plan.units) {
    const own = unit.places.map((place) => codes[place]);
    if (own.includes(null) || isPossible(unit, own)) continue;
    questions.forEach((question, i) => question.unit === unit && missed.set(i, () => text("together")));
  }
  listed = missed.size > 0;
  return listed ? null : codes;
}

/** A value of a question as people write it: a year has no comma. */
const written = (value) => new Intl.NumberFormat(language, { useGrouping: "min2", maximumFractionDigits: 20 }).format(value);

/** Which numbers are possible. */
function numberHint({ attribute: { range, bins, type } }) {
  if (range) return text("whole", { low: written(BigInt(range[0])), high: written(BigInt(range[1])) });
  const low = ["low", "both"].includes(bins.open) ? null : bins.edges[0];
  const high = ["high", "both"].includes(bins.open) ? null : bins.edges.at(-1);
  if (type === "integer") {
    const values = { low: low !== null && written(BigInt(low)), high: high !== null && written(BigInt(high) - 1n) };
    return text(low === null ? (high === null ? "wholeAny" : "wholeMost") : high === null ? "wholeLeast" : "whole", values);
  }
  const values = { low: low !== null && written(Number(low)), high: high !== null && written(Number(high)) };
  return text(low === null ? (high === null ? "number" : "numberBelow") : high === null ? "numberLeast" : "numberBetween", values);
}

function errorSummary() {
  const items = [...missed].map(([i, message]) => {
    const go = () => document.querySelector(`[data-question="${i}"] :is([role=radio][tabindex='0'], input, select)`).focus();
    return el("li", { "data-missed": i }, el("button", { type: "button", onclick: go }, `${questions[i].question[language]} ${message()}`));
  });
  return el("div", { class: "errors", tabindex: "-1", role: "group", "aria-labelledby": "errors" }, say("h2", "wrong", {}, { id: "errors" }), el("ul", {}, items));
}

function showErrors() {
  redraw();
  const summary = document.querySelector(".errors");
  summary.scrollIntoView({ block: "start" });
  summary.focus();
}

// ---------------------------------------------------------------- draw, save, send

let drawing = false;

/** The one action: after it there is a record on this device, and what was really said is gone. */
async function drawAndSend() {
  if (drawing || view !== questionView) return; // the button was pressed twice
  const codes = checked();
  if (!codes) return showErrors();
  drawing = true;
  const kept = await store.alone(() => draw(codes)).finally(() => (drawing = false));
  codes.fill(0);
  forget();
  if (!kept.record) return goOn(kept);
  if (survey.mode === "invited") {
    const seconds = APART.least + randomShare() * (APART.most - APART.least);
    pause = { from: Date.now(), to: Date.now() + 1000 * seconds };
    later(send, seconds);
  }
  show(sendingView);
  if (!waiting) send();
}

/** Draw and save, unless another window has answered meanwhile; what is saved now. */
function draw(codes) {
  const { token, signature, ...kept } = store.read();
  const invited = survey.mode === "invited";
  if (kept.record || kept.done || kept.closed || (invited && !token)) return store.read();
  store.write({ record: randomise(plan, codes, systemWords), ...(invited ? { token, signature } : { key: newKey() }) });
  return store.read();
}

/** Show where the device stands, by what it keeps. */
function goOn(kept, focus = true) {
  if (kept.record) {
    show(sendingView, focus);
    return send();
  }
  if (kept.done) return show(doneView, focus);
  if (kept.closed) return show(closedView, focus);
  if (kept.claim) return show(redeemingView, focus);
  return show(survey.mode === "invited" && !kept.token ? invitationView : startView, focus);
}

/** Seconds between an answer and its sending, with invitations: longer than the service, without a proxy, keeps an idle connection. */
const APART = { least: 6, most: 20 };
const randomShare = () => randomBytes(1)[0] / 256;

function later(act, seconds) {
  clearTimeout(waiting);
  waiting = setTimeout(act, 1000 * seconds);
}

let attempts = 0;

/** Try again: after what the service asked for, else after 2, 4, ... 60 seconds; not all devices at once. */
const tryLater = (act, after) => later(act, Math.max(after, Math.min(60, 2 ** ++attempts)) * (1 + randomShare() / 2));

async function send() {
  clearTimeout(waiting);
  waiting = null;
  const kept = store.read();
  if (!kept.record) return goOn(kept);
  const { record, ...proof } = kept;
  if (!published && !(await ask())) return wait("unreachable", 0);
  if (published.foreign) return show(otherView);
  const body = submission(plan, published.digest, proof, record);
  const reply = await post(new URL("answers", base), body, "stored");
  if (reply.ok) {
    await store.alone(() => (store.holds(kept) || store.read().closed) && store.write({ done: true }));
    sent = body;
    return show(doneView);
  }
  if (reply.retry) return wait(reply.code, reply.after);
  if (reply.code === "closed") {
    await store.alone(() => store.holds(kept) && store.write({ closed: true }));
    return show(store.read().done ? doneView : closedView);
  }
  problem = reply.code;
  return show(reply.code === "other_survey" ? otherView : failedView);
}

let problem = "";

function wait(code, after) {
  problem = code;
  tryLater(send, after);
  show(waitingView, view !== waitingView);
}

/** Asks the service which survey it has, and whether it is open; true if it answered. */
async function ask() {
  const [manifest, status] = await Promise.all([get(new URL("manifest.json", base)), get(new URL("status", base))]);
  if (!manifest) return false;
  let data = {};
  try {
    data = JSON.parse(new TextDecoder().decode(manifest)).files ?? {};
    state = JSON.parse(new TextDecoder().decode(status ?? new Uint8Array())).state ?? "";
  } catch {
    state = "";
  }
  const hashes = Object.entries(files).map(async ([name, content]) => toHex(await digest("SHA-256", new TextEncoder().encode(content))) === data[name]);
  const foreign = (await Promise.all(hashes)).includes(false);
  published = { digest: toHex(await digest("SHA-256", manifest)), page: data["index.html"], foreign };
  return true;
}

function sendingView() {
  if (survey.mode !== "invited" || !waiting) return notice("sending", "sendingNow", {}, progress("sending"));
  const bar = progress("sending", { max: pause.to - pause.from, value: Date.now() - pause.from });
  const tick = () => {
    bar.value = Date.now() - pause.from;
    if (bar.isConnected && waiting) setTimeout(tick, 250);
  };
  setTimeout(tick, 250);
  return notice("sending", "apart", {}, bar);
}

const waitingView = () => notice("saved", problem === "unreachable" ? "savedOffline" : "savedBusy", {}, button("again", () => (show(sendingView), send())));
const closedView = () => notice("closed", store.read().closed ? "closedLost" : "closedNote");
const failedView = () => notice("failed", "failedFor", { code: problem }, button("again", () => (show(sendingView), send())));
const otherView = () => notice("other", "otherNote");

function doneView() {
  if (!sent) return notice("done", "doneBefore", {}, button("explained", () => step("about"), "link"));
  const { record } = JSON.parse(sent);
  const rows = questions.map((question) => [question.question[language], labelOf(question, record[question.place])]);
  return notice(
    "done",
    "doneNow",
    {},
    details(
      "sent",
      say("p", "sentNote"),
      el("code", { class: "bytes", translate: "no" }, sent),
      table([text("question"), text("sentValue")], rows, { label: text("sent") }),
      button("hide", hideSent, "action second"),
    ),
    button("explained", () => step("about"), "link"),
  );
}

function hideSent() {
  const shown = document.querySelector("[data-details=sent]");
  shown.open = false;
  shown.querySelector("summary").focus();
}

/** What a code of a question means to people. */
function labelOf({ labels, attribute, optional }, code) {
  if (labels) return labels[code][language];
  if (optional && code === attribute.size - 1) return text("notSaid");
  return attribute.range ? written(BigInt(attribute.range[0]) + BigInt(code)) : groupName(attribute.bins.labels[code]);
}

/** The name of a group of numbers; [0.5, 20.5) is written out. */
function groupName(label) {
  const ends = label.match(/^\[(\S+), (\S+)\)$/);
  return ends ? text("between", { low: written(ends[1]), high: written(ends[2]) }) : label;
}

// ---------------------------------------------------------------- invitations

/** Redeem the invitation: have a token signed that the issuer never sees. */
async function redeem() {
  clearTimeout(waiting);
  const { claim } = store.read();
  if (!claim) return goOn(store.read());
  if (!published && !(await ask())) return tryLater(redeem, 0), show(redeemLaterView, false);
  reach("redeemingSign");
  const body = JSON.stringify({ survey: published.digest, code: claim.code, blinded: claim.blinded });
  const reply = await post(new URL("claim", issuer), body, "signature");
  if (!reply.ok) {
    if (reply.retry) return tryLater(redeem, reply.after), show(redeemLaterView, false);
    if (reply.code === "closed") return show(closedView);
    const ours = await store.alone(() => store.holds({ claim }) && (store.write({}), true));
    if (ours) return show(reply.code === "conflict" ? usedView : unknownView);
  } else {
    reach("redeemingCheck");
    await painted();
    let signature;
    try {
      signature = await finalize(survey.invitation_key, fromBase64(claim.token), fromBase64(reply.data.signature), BigInt(claim.inverse));
    } catch {
      return show(unknownView);
    }
    await store.alone(() => isBeforeToken(store.read()) && store.write({ token: claim.token, signature: toBase64(signature) }));
  }
  attempts = 0;
  const kept = store.read(); // another window may have gone further
  goOn(kept);
  if (kept.claim) return redeem();
}

const isBeforeToken = ({ token, record, done, closed }) => !(token || record || done || closed);

async function claimFor(code) {
  const { token, blinded, inverse } = await blindToken(survey.invitation_key);
  return { code, token: toBase64(token), blinded: toBase64(blinded), inverse: String(inverse) };
}

const STAGES = ["redeemingNote", "redeemingSign", "redeemingCheck"];
const redeemingView = () => notice("redeeming", stage, {}, progress("redeeming", { max: STAGES.length, value: STAGES.indexOf(stage) + 0.5 }));
const redeemLaterView = () => notice("redeeming", "redeemLater", {}, progress("redeeming"));

/** Show how far the invitation is. */
function reach(next) {
  stage = next;
  show(redeemingView, false);
}

/** Let the browser show what was drawn before it computes; a page in the background is not drawn, so not for long. */
const painted = () => new Promise((go) => (requestAnimationFrame(() => setTimeout(go)), setTimeout(go, 100)));

const markingView = () => notice("marking", "markingNote");
const usedView = () => notice("used", "usedNote");
const unknownView = () => notice("unknown", "unknownNote");
const invitationView = () => notice("invitation", "invitationNote");

// ---------------------------------------------------------------- practice: audit or send, never both

/** Practice has the questions for itself; answers to be sent wait aside. */
function practice() {
  aside = answers;
  answers = [];
  forgetMarks();
  step("practice");
}

function practiceView() {
  return [
    say("h2", "practice"),
    say("p", "practiceNote", {}, { class: "test" }),
    say("p", "practiceLead"),
    listed ? errorSummary() : null,
    questionForm(),
    el("div", { class: "actions" }, button("drawOne", () => practise(1)), button("drawMany", () => practise(1000))),
    el("div", { id: "practised", role: "status" }, practised && (practised.counts ? manyDraws() : oneDraw())),
    button("leavePractice", () => history.back(), "action second"),
  ];
}

function practise(times) {
  practised = null;
  const codes = checked();
  if (!codes) return showErrors();
  const used = {};
  const words = (block, draw, round, bits) => {
    const word = systemWords(block, draw, round, bits);
    used[`${block}/${draw}/${round}`] = String(word);
    return word;
  };
  const records = Array.from({ length: times }, () => randomise(plan, codes, words));
  const counts = (place) => records.reduce((sums, record) => sums.set(record[place], (sums.get(record[place]) ?? 0) + 1), new Map());
  practised = times === 1 ? { codes, record: records[0], used } : { codes, counts };
  redraw();
  const results = document.querySelector("#practised h3");
  results.setAttribute("tabindex", "-1");
  results.focus();
}

function oneDraw() {
  const { codes, record, used } = practised;
  const rows = questions.map((question) => [question.question[language], labelOf(question, codes[question.place]), labelOf(question, record[question.place])]);
  return [
    say("h3", "drawn"),
    table([text("question"), text("answered"), text("becomes")], rows, { label: text("drawn") }),
    say("p", "words"),
    el("code", { class: "bytes", translate: "no" }, JSON.stringify(used)),
    say("p", "drawnNote", {}, { class: "quiet" }),
  ];
}

function manyDraws() {
  const { codes, counts } = practised;
  const tables = questions.map((question) => {
    const expected = chanceOf(plan, codes, question.place);
    const size = question.attribute.size;
    const drawn = counts(question.place);
    const own = codes[question.place];
    const line = (label, chance, count) => {
      const spread = 1.96 * Math.sqrt(1000 * chance * (1 - chance));
      const [low, high] = [Math.max(0, Math.floor(1000 * chance - spread)), Math.min(1000, Math.ceil(1000 * chance + spread))];
      return [label, number(Math.round(1000 * chance)), `${number(low)}–${number(high)}`, number(count)];
    };
    const rows =
      size <= MOST_BUTTONS
        ? Array.from({ length: size }, (_, code) => line(labelOf(question, code), expected(code), drawn.get(code) ?? 0))
        : [
            line(labelOf(question, own), expected(own), drawn.get(own) ?? 0),
            line(text("anotherValue"), 1 - expected(own), 1000 - (drawn.get(own) ?? 0)),
          ];
    const head = [text("value"), text("planned"), text("usual"), text("counted")];
    return table(head, rows, { caption: question.question[language], numbers: [1, 2, 3] });
  });
  return [say("h3", "many"), say("p", "manyNote"), ...tables];
}

// ---------------------------------------------------------------- opening and leaving

/** The code of an invitation; it leaves the address bar at once. */
function takeCode() {
  const code = location.hash.match(/[A-Za-z0-9_-]{22}$/)?.[0] ?? null;
  history.replaceState(null, "", location.pathname + location.search); // nor is a step of an earlier visit left
  return code;
}

async function open() {
  const code = takeCode();
  if (!window.isSecureContext || !crypto.subtle) return show(() => notice("insecure", "insecureNote"), false);
  if (!(await store.open())) return show(() => notice("noStorage", "noStorageNote"), false);
  if (!base) return show(startView, false);
  const invited = survey.mode === "invited";
  let kept = store.read();
  if (invited && code && !kept.record && kept.claim?.code !== code && !kept.token) {
    reach("redeemingNote");
    await painted();
    let claim;
    try {
      claim = await claimFor(code);
    } catch {
      return show(markingView, false); // the key fails, or the token shares a factor with it
    }
    await store.alone(() => store.holds(kept) && store.write({ claim }));
    kept = store.read();
  }
  goOn(kept, false);
  if (![redeemingView, startView].includes(view)) return;
  const told = state;
  if (!published) {
    const reached = await ask();
    if (!reached) state = "offline";
    if (state === "closed") return show(closedView, false);
    if (published?.foreign) return show(otherView, false);
  }
  if (!["offline", "paused"].includes(state)) state = "";
  if (kept.claim) return redeem();
  const experts = document.querySelector("[data-details=experts]");
  if (view !== startView || experts.contains(document.activeElement)) return;
  if (state === told) experts.replaceWith(expertWords()); // with its new hashes; what a finger is on stays where it is
  else if (document.activeElement === document.body) redraw(); // nobody has begun to use it
}

/** What the browser's Back and Forward lead to inside the page. A record that waits is never left. */
const STEPS = { questions: questionView, practice: practiceView, file: fileView, about: aboutView };

addEventListener("popstate", () => {
  const kept = base ? store.read() : {};
  const name = history.state?.step;
  if (kept.record || !view) return;
  if (name === "file" || (name === "about" && kept.done)) return show(STEPS[name]);
  if (name === "questions" && consent && !kept.done && !kept.closed) return show(questionView);
  if (!base || [questionView, practiceView, fileView].includes(view)) return show(kept.done ? doneView : kept.closed ? closedView : startView);
  if (view === aboutView) show(doneView);
});
addEventListener("hashchange", () => {
  if (!location.hash) return;
  if ([invitationView, usedView, unknownView].includes(view)) open(); // the whole link was put into the address bar
  else takeCode();
});
addEventListener("online", () => {
  if (waiting && view === waitingView) send();
  else if (waiting && view === redeemLaterView) redeem();
});
addEventListener("pagehide", () => {
  forget();
  sent = null;
  consent = false;
  opened = new Set();
  guard();
  announce("");
  document.getElementById("page").replaceChildren();
});
addEventListener("pageshow", (event) => event.persisted && open());
open();
