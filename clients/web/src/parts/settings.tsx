/** Language of the page, and which microphone and loudspeaker. */

import { type ReactNode, useId } from "react";
import { languages, useTexts } from "../texts";
import { Icon } from "./icons";
import { Panel } from "./panel";

export function Settings({
  onLanguage,
  children,
}: {
  onLanguage: (code: string) => void;
  /** The choice of devices, in a call with sound. */
  children?: ReactNode;
}) {
  const texts = useTexts();
  const id = useId();
  const button = (
    <>
      <Icon name="sliders" />
      <span className="wordy">{texts.settings}</span>
      <span className="unseen-short">{texts.settingsShort}</span>
    </>
  );
  return (
    <Panel button={button} title={texts.sound.title}>
      <div>
        <label className="label" htmlFor={id}>
          {texts.sound.language}
        </label>
        <select
          id={id}
          className="field"
          value={texts.code}
          onChange={(event) => onLanguage(event.target.value)}
        >
          {Object.values(languages).map((language) => (
            <option key={language.code} value={language.code} lang={language.code}>
              {language.language}
            </option>
          ))}
        </select>
        <p className="fine">{texts.sound.languageNote}</p>
      </div>
      {children}
      <p className="fine">{texts.sound.captions}</p>
    </Panel>
  );
}
