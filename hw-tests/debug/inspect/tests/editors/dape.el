;;; dape.el --- A session of Emacs's dape with the configuration of docs/editors  -*- lexical-binding: t; -*-

;; Run by tests/inside/debian.rs.  Line 3 of the source has a breakpoint.

;;; Code:

(require 'dape)

(defun wait-for (what holds)
  "Wait until HOLDS returns true, or fail with WHAT."
  (let ((end (+ (float-time) 60)))
    (while (not (funcall holds))
      (when (> (float-time) end)
        (error "Not in time: %s; %S" what (with-current-buffer "*dape-repl*" (buffer-string))))
      (accept-process-output nil 0.05))))

(defun line-of-frame ()
  "The line where the board stands, if it stands."
  (when-let* ((conn (dape--live-connection 'stopped t))
              (frame (dape--current-stack-frame conn)))
    (plist-get frame :line)))

(setq dape-start-hook '(dape-repl))
(setq dape-repl-echo-shell-output nil)
(find-file (car command-line-args-left))
(setq command-line-args-left nil)
(goto-char (point-min))
(forward-line 2)
(dape-breakpoint-toggle)
(dape (dape--config-eval 'tdl '()))
(wait-for "the first stop" (lambda () (eql (line-of-frame) 1)))
(dape-next (dape--live-connection 'stopped))
(wait-for "the next line" (lambda () (eql (line-of-frame) 2)))
(dape-continue (dape--live-connection 'stopped))
(wait-for "the breakpoint" (lambda () (eql (line-of-frame) 3)))
(let ((file (thread-first (dape--live-connection 'stopped) (dape--current-stack-frame)
                          (plist-get :source) (plist-get :path))))
  (unless (equal (file-truename file) (file-truename (buffer-file-name (get-buffer "prog.asm"))))
    (error "The frame is in %s" file)))
(dape-quit (dape--live-connection 'parent))
(wait-for "the end" (lambda () (not (dape--live-connection 'parent t))))
(princ (format "passed in Emacs %s, dape\n" emacs-version))
(kill-emacs 0)

;;; dape.el ends here
