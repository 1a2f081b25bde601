@echo off
rem Runs the commands of Stemma. Without words, it opens the window.
if "%~1"=="" (start "" "%~dp0..\Stemma.exe") else ("%~dp0..\Stemma.exe" --stemma-command --no-sandbox --log-level=3 -- %*)
